//! Runs one case in processes of their own, the first of which is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reknit_engine::{Effect, EventKind};
use reknit_journal::Journal;
use reknit_protocol::word_enum;
use reknit_runtime::Transport as _;
use tokio::runtime::Runtime;

use super::ChaosCase;
use super::case_run::{CaseRun, ProcessEnd, live_twice};
use super::child::{ChildMessage, ChildStart, ParentAnswer, SPEED};
use super::double::{Double, DoubleState, lock};
use crate::drive::TestClock;
use crate::drive::facts;
use crate::facts::ObservedRun;
use crate::test_file::TestFile;

word_enum! {
    /// How our own process was killed in the cases of a report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum KillMethod {
        /// All tasks of the driver end at one moment. The journal is in memory, and time is virtual.
        Tasks = "tasks",
        /// A process of its own is killed with SIGKILL. The journal is a file of `SQLite`, and time is real.
        Process = "process",
    }
}

/// Processes that drive a run, to be killed.
#[derive(Debug, Clone)]
pub struct ChildProcesses {
    pub program: PathBuf,
    /// Its arguments; the file of the journal is one more. It opens that journal and calls
    /// [`drive_chaos_child`](crate::drive_chaos_child).
    pub arguments: Vec<String>,
    /// A folder for journals. The caller removes it.
    pub folder: PathBuf,
    pub open: fn(&Path) -> Result<Journal, String>,
}

impl ChildProcesses {
    pub(super) fn command(&self, journal: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(journal);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// The longest that a process may take, in real time.
const MAX_TIME: Duration = Duration::from_mins(2);

/// Each case has a journal of its own.
static NEXT_JOURNAL: AtomicU64 = AtomicU64::new(1);

/// Runs a test in a process that is killed as the case says, and in another one that takes the run over.
pub(super) fn run_case(processes: &ChildProcesses, file: &TestFile, folder: &Path, case: &ChaosCase) -> CaseRun {
    let number = NEXT_JOURNAL.fetch_add(1, Ordering::Relaxed);
    let journal = processes.folder.join(format!("{number}.db"));
    let mut file = file.clone();
    file.calls.iter_mut().for_each(|recording| recording.took_ms = 0);
    file.models.iter_mut().for_each(|recording| recording.took_ms = 0);
    let state = Arc::new(Mutex::new(DoubleState::default()));
    let run = KilledRun { processes, file: &file, folder, case, journal, state: &state };
    let (failure, time_ms) = live_twice(&file, Some(case), |now_ms, takes_over| run.live(now_ms, takes_over));
    let (mut facts, failure) = match run.facts() {
        Ok(facts) => (facts, failure),
        Err(error) => (ObservedRun::default(), failure.or(Some(error))),
    };
    facts.time_ms = time_ms;
    CaseRun { facts, done: lock(&state).clone(), failure }
}

struct KilledRun<'a> {
    processes: &'a ChildProcesses,
    file: &'a TestFile,
    folder: &'a Path,
    case: &'a ChaosCase,
    journal: PathBuf,
    state: &'a Arc<Mutex<DoubleState>>,
}

impl KilledRun<'_> {
    /// Lets a process live until the run has ended, or until it is killed. Returns how long it lived, in its own time.
    fn live(&self, now_ms: i64, takes_over: bool) -> (ProcessEnd, u64) {
        let started = Instant::now();
        let end = match self.start(now_ms, takes_over) {
            Ok((child, input, output)) => self.answer_until_end(now_ms, child, input, output),
            Err(error) => ProcessEnd::Done(Some(format!("the process cannot be started: {error}"))),
        };
        let elapsed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        (end, elapsed.saturating_mul(SPEED.into()))
    }

    fn start(&self, now_ms: i64, takes_over: bool) -> std::io::Result<(Child, ChildStdin, ChildStdout)> {
        let mut child = self.processes.command(&self.journal).spawn()?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        let folder = std::path::absolute(self.folder)?;
        let start = ChildStart { test: self.file.write(), folder, now_ms, takes_over };
        writeln!(input, "{}", serde_json::to_string(&start)?)?;
        Ok((child, input, output))
    }

    /// Answers what the process asks for. Kills it when the case says so, or when it takes too long.
    fn answer_until_end(
        &self,
        now_ms: i64,
        mut child: Child,
        mut input: ChildStdin,
        output: ChildStdout,
    ) -> ProcessEnd {
        let errors = child.stderr.take();
        let child = Mutex::new(child);
        let kill = || {
            let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
            // It may have ended by itself.
            let _ = child.kill().and_then(|()| child.wait().map(drop));
        };
        let (sender, receiver) = channel::<()>();
        let end = std::thread::scope(|scope| {
            let kill = &kill;
            let last_line = scope.spawn(move || errors.and_then(last_line));
            scope.spawn(move || {
                if receiver.recv_timeout(MAX_TIME) == Err(RecvTimeoutError::Timeout) {
                    kill();
                }
            });
            let end = self.answer(now_ms, &mut input, output);
            drop(sender);
            kill();
            let last_line = last_line.join().ok().flatten();
            match (end, last_line) {
                (ProcessEnd::Done(Some(failure)), Some(line)) => {
                    ProcessEnd::Done(Some(format!("{failure}; its last line of standard error: {line}")))
                }
                (end, _) => end,
            }
        });
        // Only now, because a process that goes on for a moment must not see that nobody answers.
        drop(input);
        end
    }

    fn answer(&self, now_ms: i64, input: &mut ChildStdin, output: ChildStdout) -> ProcessEnd {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => return ProcessEnd::Done(Some(error.to_string())),
        };
        let double = runtime.block_on(async {
            let clock = Arc::new(TestClock::starting_at(now_ms));
            Double::new(self.file, Some(self.case), clock, Arc::clone(self.state))
        });
        for line in BufReader::new(output).lines() {
            let read = line.map_err(|error| error.to_string());
            match read.and_then(|line| serde_json::from_str(&line).map_err(|error| error.to_string())) {
                Err(error) => return ProcessEnd::Done(Some(error)),
                Ok(ChildMessage::Ended { failure }) => return ProcessEnd::Done(failure),
                Ok(ChildMessage::Asks { number, effect }) => {
                    let Some(outcome) = outcome(&runtime, &double, &effect) else { return ProcessEnd::Killed };
                    let line = serde_json::to_string(&ParentAnswer { number, outcome }).unwrap_or_default();
                    if let Err(error) = writeln!(input, "{line}") {
                        return ProcessEnd::Done(Some(format!("the process does not listen: {error}")));
                    }
                }
            }
        }
        let seconds = MAX_TIME.as_secs();
        ProcessEnd::Done(Some(format!("the process ended without a result, or took longer than {seconds} s")))
    }

    fn facts(&self) -> Result<ObservedRun, String> {
        let journal = (self.processes.open)(&self.journal)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        Ok(runtime.map_err(|error| error.to_string())?.block_on(facts(&journal)))
    }
}

fn last_line(errors: ChildStderr) -> Option<String> {
    let lines = BufReader::new(errors).lines().map_while(Result::ok);
    lines.filter(|line| !line.trim().is_empty()).last()
}

/// The outcome of a call or a question; `None` if the process must be killed.
fn outcome(runtime: &Runtime, double: &Double, effect: &Effect) -> Option<EventKind> {
    runtime.block_on(async {
        let outcome = async {
            match effect {
                Effect::CallTool(call) => match double.call(call, None).await {
                    Ok(reply) => Some(EventKind::ToolAnswered { effect: call.id.clone(), reply }),
                    Err(failure) => Some(EventKind::ToolFailed { effect: call.id.clone(), failure }),
                },
                Effect::AskModel(ask) => match double.ask(ask).await {
                    Ok(answer) => Some(EventKind::ModelAnswered { effect: ask.id.clone(), answer }),
                    Err(failure) => Some(EventKind::ModelFailed { effect: ask.id.clone(), failure }),
                },
                _ => None,
            }
        };
        tokio::select! {
            biased;
            () = double.killed.notified() => None,
            outcome = outcome => outcome,
        }
    })
}
