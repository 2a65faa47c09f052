//! A tool that counts, a plan with a step of every class, and a process to kill.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use reknit_journal::{Durability, Journal, Record, RunFilter};
use reknit_protocol::{Effect, RunId, Value};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Gate, Reply, ScriptedTool};
use tempfile::TempDir;

/// The steps, in the order in which they run, with what each does to the world.
pub(crate) const STEPS: [(&str, Effect); 5] = [
    ("look", Effect::Read),
    ("order", Effect::Keyed),
    ("note", Effect::Undeclared),
    ("pay", Effect::Unsafe),
    ("check", Effect::Read),
];

/// Nothing here takes long; only a hang does.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) tool: RunningTool,
    pub(crate) gate: Gate,
    folder: TempDir,
}

impl World {
    /// Every answer of the tool waits at the gate.
    pub(crate) async fn new() -> Self {
        let gate = Gate::new();
        let mut tool = ScriptedTool::new("t");
        for (name, effect) in STEPS {
            let reply = Reply::data(Value::from(format!("{name} done"))).gate(&gate);
            tool = tool.capability(name, effect).on(name, When::any(), reply);
        }
        let tool = tool.start().await.expect("the tool starts");
        let folder = tempfile::tempdir().expect("a folder");
        let world = Self { tool, gate, folder };
        fs::write(world.path("plan.json"), plan()).expect("the plan can be written");
        let config = format!("[[tools]]\nname = \"t\"\nurl = \"{}\"\n", world.tool.base_url());
        fs::write(world.path("reknit.toml"), config).expect("the configuration can be written");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
        command
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

    /// Starts the run in a process of its own.
    pub(crate) fn start(&self, driver: &str) -> Child {
        let plan = self.path("plan.json");
        let arguments = ["run", &plan.to_string_lossy(), "--answer", "template", "--driver", driver, "--json"];
        self.command(&arguments).spawn().expect("the command can be run")
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command can be run")
    }

    pub(crate) fn resume(&self, driver: &str) -> Output {
        self.finish(&["runs", "resume", "last", "--driver", driver, "--json"])
    }

    /// What the journal holds, as another process sees it.
    pub(crate) async fn events(&self) -> Vec<Record> {
        if !self.path("journal.db").exists() {
            return Vec::new();
        }
        let journal = Journal::open(&self.path("journal.db"), Durability::Full).expect("the journal can be opened");
        match self.run(&journal).await {
            Some(run) => journal.events(&run, 0).await.expect("the run is there"),
            None => Vec::new(),
        }
    }

    async fn run(&self, journal: &Journal) -> Option<RunId> {
        journal.runs(&RunFilter::newest(1)).await.expect("runs can be listed").pop().map(|summary| summary.run)
    }

    /// Waits until the journal holds so many events.
    pub(crate) async fn wait_for_events(&self, count: usize) -> Vec<Record> {
        let began = Instant::now();
        loop {
            let events = self.events().await;
            if events.len() >= count {
                return events;
            }
            assert!(began.elapsed() < PATIENCE, "{} events are there, {count} are waited for", events.len());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Kills a process as a crash does: at once, and without a word to it.
pub(crate) fn kill(mut child: Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// A chain through all classes, each step with the result of the one before.
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

/// What became of the steps, without how often it took.
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
