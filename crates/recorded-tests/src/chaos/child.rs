//! The process that is killed: it drives a run, and asks the process that started it for the answers of tools and models.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reknit_engine::{AskModel, Effect, EventKind};
use reknit_journal::Journal;
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_protocol::{CallTool, ToolReply, TransportFailure, error_chain};
use reknit_runtime::{BoxFuture, CallLimits, Clock, Driver, Transport};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tokio::sync::{Notify, oneshot};

use crate::drive::drive_to_end;
use crate::people::People;
use crate::player::not_recorded;
use crate::start::run_start;
use crate::test_file::TestFile;

/// How much faster time passes in such a process.
pub(super) const SPEED: u32 = 20;

/// The first line to the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChildStart {
    pub(super) test: String,
    /// The folder that paths in the test are relative to.
    pub(super) folder: PathBuf,
    /// The time at which the process starts.
    pub(super) now_ms: i64,
    /// Whether it takes over the run, instead of starting it.
    pub(super) takes_over: bool,
}

/// A line of the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildMessage {
    /// It calls a tool, or asks a model.
    Asks { number: u64, effect: Effect },
    /// The run has ended, or waits for somebody.
    Ended {
        /// Why it could not be driven to its end.
        failure: Option<String>,
    },
}

/// A line to the process: the answer to what it asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ParentAnswer {
    pub(super) number: u64,
    pub(super) outcome: EventKind,
}

/// Drives the run that the first line of the input describes, and writes what it asks for as lines of the output. The program that
/// [`ChildProcesses`](crate::ChildProcesses) names calls this with its standard input and output. Returns why it could not be driven.
pub fn drive_chaos_child(
    journal: &Journal,
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| error.to_string())?;
    let start: ChildStart = serde_json::from_str(&line).map_err(|error| error.to_string())?;
    let file = TestFile::read(&start.test).map_err(|problems| format!("{problems:?}"))?;
    let first = run_start(&file, &start.folder).map_err(|error| error.to_string())?;
    let closed = Arc::new(Notify::new());
    let parent =
        Arc::new(Parent { output: Mutex::new(Box::new(output)), waiting: Mutex::default(), next: AtomicU64::new(1) });
    let (reader, at_end) = (Arc::clone(&parent), Arc::clone(&closed));
    // It ends with the input, which the other process closes.
    std::thread::spawn(move || {
        reader.read(input);
        at_end.notify_one();
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let clock = FastClock { at_ms: start.now_ms, started: Instant::now() };
        let transport: Arc<dyn Transport> = Arc::<Parent>::clone(&parent);
        let driver = Driver::new(journal.clone(), transport, Arc::new(clock), CallLimits::default());
        let mut people = People::of(&file);
        if start.takes_over {
            people.forget_used(journal).await.map_err(|error| error_chain(&error))?;
        }
        let first = (!start.takes_over).then_some(first);
        let outcome = tokio::select! {
            outcome = drive_to_end(&driver, journal, &clock, first, &mut people) => outcome,
            () = closed.notified() => return Err("nobody answers any more".to_owned()),
        };
        parent.write(&ChildMessage::Ended { failure: outcome.err().map(|error| error_chain(&error)) });
        Ok(())
    })
}

/// A clock that runs faster than time does.
#[derive(Debug, Clone, Copy)]
struct FastClock {
    at_ms: i64,
    started: Instant,
}

impl Clock for FastClock {
    fn now_ms(&self) -> i64 {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.at_ms.saturating_add_unsigned(elapsed.saturating_mul(SPEED.into()))
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let wait = u64::try_from(at_ms.saturating_sub(self.now_ms())).unwrap_or_default();
        Box::pin(tokio::time::sleep(Duration::from_millis(wait.div_ceil(SPEED.into()))))
    }
}

/// The process that answers.
struct Parent {
    output: Mutex<Box<dyn Write + Send>>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<EventKind>>>,
    next: AtomicU64,
}

impl std::fmt::Debug for Parent {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Parent").finish_non_exhaustive()
    }
}

impl Parent {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<EventKind>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out answers until there are no more.
    fn read(&self, input: impl BufRead) {
        for line in input.lines() {
            let Ok(line) = line else { break };
            let Ok(ParentAnswer { number, outcome }) = serde_json::from_str(&line) else { break };
            if let Some(sender) = self.waiting().remove(&number) {
                // Whoever asked may not want it any more.
                let _ = sender.send(outcome);
            }
        }
    }

    fn write(&self, line: &ChildMessage) {
        let Ok(text) = serde_json::to_string(line) else { return };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // A process that does not listen any more kills this one.
        let _ = writeln!(output, "{text}").and_then(|()| output.flush());
    }

    async fn outcome(&self, effect: Effect) -> Option<EventKind> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(number, sender);
        self.write(&ChildMessage::Asks { number, effect });
        receiver.await.ok()
    }
}

impl Transport for Parent {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async move {
            match self.outcome(Effect::AskModel(ask.clone())).await {
                Some(EventKind::ModelAnswered { answer, .. }) => Ok(answer),
                Some(EventKind::ModelFailed { failure, .. }) => Err(failure),
                _ => Err(ModelFailure::new(ErrorClass::NetworkError, "nobody answers")),
            }
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move {
            match self.outcome(Effect::CallTool(Arc::new(call.clone()))).await {
                Some(EventKind::ToolAnswered { reply, .. }) => Ok(reply),
                Some(EventKind::ToolFailed { failure, .. }) => Err(failure),
                _ => Err(not_recorded()),
            }
        })
    }
}
