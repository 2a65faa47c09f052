//! A tool that counts calls, a plan with a step of every side effect class, and a process to kill.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_journal::{Durability, Journal, RunFilter, StoredEvent};
use reknit_protocol::{SideEffect, Value};
use tempfile::TempDir;

/// The steps in the order in which they run, with their side effect classes.
pub(crate) const STEPS: [(&str, SideEffect); 5] = [
    ("look", SideEffect::Read),
    ("order", SideEffect::Keyed),
    ("note", SideEffect::Undeclared),
    ("pay", SideEffect::Unsafe),
    ("check", SideEffect::Read),
];

/// A limit that only a hanging test reaches.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) struct World {
    pub(crate) tool: RunningTool,
    pub(crate) barrier: CallBarrier,
    folder: TempDir,
}

impl World {
    /// Every answer of the tool waits at the barrier.
    pub(crate) async fn new() -> Self {
        let barrier = CallBarrier::new();
        Self::with(barrier.clone(), |name| done(name).wait_at(&barrier)).await
    }

    /// The tool answers with these replies, and does not wait at the barrier.
    pub(crate) async fn answering(reply: impl Fn(&str) -> Reply) -> Self {
        Self::with(CallBarrier::new(), reply).await
    }

    /// The first call of one step gets this reply; all others succeed.
    pub(crate) async fn failing_once(step: &'static str, reply: Reply) -> Self {
        Self::with_first(CallBarrier::new(), Some((step, reply)), done).await
    }

    async fn with(barrier: CallBarrier, reply: impl Fn(&str) -> Reply) -> Self {
        Self::with_first(barrier, None, reply).await
    }

    async fn with_first(barrier: CallBarrier, mut first: Option<(&str, Reply)>, reply: impl Fn(&str) -> Reply) -> Self {
        let mut tool = ScriptedTool::new("t");
        for (name, effect) in STEPS {
            if let Some((_, first)) = first.take_if(|(step, _)| *step == name) {
                tool = tool.once(name, CallMatcher::any(), first);
            }
            tool = tool.capability(name, effect).on(name, CallMatcher::any(), reply(name));
        }
        Self::around(barrier, tool).await
    }

    /// A world with this tool, whose answers wait at the barrier if they are made so.
    pub(crate) async fn around(barrier: CallBarrier, tool: ScriptedTool) -> Self {
        let tool = tool.start().await.expect("the tool starts");
        let folder = tempfile::tempdir().expect("a folder");
        let world = Self { tool, barrier, folder };
        fs::write(world.path("plan.json"), plan()).expect("the plan can be written");
        let config = format!(
            "[[tools]]\nname = \"t\"\nurl = \"{}\"\n\n[limits]\ndrain-time = \"50ms\"\n",
            world.tool.base_url()
        );
        fs::write(world.path("reknit.toml"), config).expect("the configuration can be written");
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
        command
            .env("REKNIT_FIND_MODEL", "false")
            // A folder of its own: another test may have had another tool at the same port.
            .env("XDG_STATE_HOME", self.path("state"))
            .args(arguments)
            .arg("--config")
            .arg(self.path("reknit.toml"))
            .arg("--journal")
            .arg(self.path("journal.db"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the run in its own process.
    pub(crate) fn start(&self) -> Child {
        let plan = self.path("plan.json");
        self.spawn(&["run", &plan.to_string_lossy(), "--answer", "template", "--json"])
    }

    /// Starts a command in its own process.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the command can be run")
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command can be run")
    }

    pub(crate) fn resume(&self) -> Output {
        self.finish(&["runs", "resume", "last", "--json"])
    }

    /// Resumes the run until it ends and approves its calls. Returns the number of approvals and the last output.
    pub(crate) fn resume_to_the_end(&self) -> (usize, Output) {
        for approvals in 0..STEPS.len() {
            let resumed = self.resume();
            if resumed.status.code() != Some(6) {
                return (approvals, resumed);
            }
            let approved = self.finish(&["runs", "approve", "last"]);
            assert!(approved.status.success(), "{}", stderr(&approved));
        }
        panic!("the run does not end");
    }

    /// The events in the journal, as another process reads them.
    pub(crate) async fn events(&self) -> Vec<StoredEvent> {
        events_in(&self.path("journal.db")).await
    }

    /// Waits until the journal has this number of events.
    pub(crate) async fn wait_for_events(&self, count: usize) -> Vec<StoredEvent> {
        let began = Instant::now();
        loop {
            let events = self.events().await;
            if events.len() >= count {
                return events;
            }
            assert!(began.elapsed() < TIMEOUT, "found {} events, expected {count}", events.len());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The events of the newest run in a journal.
pub(crate) async fn events_in(path: &Path) -> Vec<StoredEvent> {
    if !path.exists() {
        return Vec::new();
    }
    let journal = Journal::open(path, Durability::Full).expect("the journal can be opened");
    let newest = journal.runs(&RunFilter::newest(1)).await.expect("runs can be listed").pop();
    match newest {
        Some(summary) => journal.events(&summary.run, 0).await.expect("the run is there"),
        None => Vec::new(),
    }
}

/// Kills a process with SIGKILL.
pub(crate) fn kill(mut child: Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// The normal answer of a step.
pub(crate) fn done(name: &str) -> Reply {
    Reply::data(Value::from(format!("{name} done")))
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A plan in which each step uses the result of the step before.
fn plan() -> String {
    let steps: Vec<String> = STEPS
        .iter()
        .enumerate()
        .map(|(index, (name, _))| {
            let before = index.checked_sub(1).map(|before| STEPS[before].0);
            let parameters = before.map_or_else(|| "{}".to_owned(), |before| format!(r#"{{"after": "{{{{{before}}}}}"}}"#));
            format!(
                r#"{{"step_id": "{name}", "agent_name": "t", "instruction": "", "metadata": {{"capability": "{name}", "parameters": {parameters}}}}}"#
            )
        })
        .collect();
    format!(r#"{{"plan_id": "p", "original_request": "every class", "steps": [{}]}}"#, steps.join(", "))
}

/// The status and the outcome of each step, without the number of attempts.
pub(crate) fn outcome(output: &Output) -> (Value, Vec<(Value, Value)>) {
    let text = String::from_utf8_lossy(&output.stdout);
    let value = Value::parse(&text).unwrap_or_else(|error| {
        panic!("{error}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    let steps = value.get("steps").and_then(Value::as_array).expect("steps");
    let steps = steps
        .iter()
        .map(|step| {
            let field = |name| step.get(name).cloned().unwrap_or(Value::Null);
            (field("step"), field("outcome"))
        })
        .collect();
    (value.get("status").cloned().unwrap_or(Value::Null), steps)
}
