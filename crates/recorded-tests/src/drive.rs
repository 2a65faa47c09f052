//! Drives the run of a test with the real driver, a journal in memory and virtual time.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_journal::{DueEffect, Journal, RunFilter, RunSummary, StoredEvent};
use reknit_protocol::{RunId, error_chain};
use reknit_runtime::{
    BoxFuture, CallLimits, Clock, DriveError, DriveOutcome, Driver, EffectRunner, RemoteEngine, RunStart, Transport,
    run_overview,
};
use tokio::time::Instant;

use crate::expectations::{Mismatch, describe_call, nearest_call, parameter_differences};
use crate::facts::ObservedRun;
use crate::people::{People, decide, decide_in_sessions};
use crate::player::{Played, Player, Strictness, UnexpectedRequest};
use crate::recording::{DecisionRecording, PlayCount};
use crate::start::{RUN, TestStartError, run_start};
use crate::test_file::TestFile;

/// What the run of a test did, and how its recordings were used.
#[derive(Debug, Clone)]
pub struct TestRun {
    pub facts: ObservedRun,
    /// What was asked for that no recording answers. The run was stopped at the first.
    pub unexpected: Vec<UnexpectedRequest>,
    /// The recordings that were not played as often as they should be, one line for each.
    pub unused: Vec<String>,
    /// The digest of the question that each recorded answer of a model was given to.
    pub digests: Vec<Option<String>>,
    /// Why the run could not be driven to its end.
    pub failure: Option<String>,
}

/// A run as the journal has it at the end of a test.
#[derive(Debug, Clone)]
pub struct PlayedRun {
    pub run: RunId,
    pub events: Vec<StoredEvent>,
    /// The effects that became due, in order.
    pub due: Vec<DueEffect>,
}

impl TestFile {
    /// Plays the test in the time of the caller's runtime. The runs are on the engine that `connect` returns, which gets what performs
    /// their effects; on that of this process if it returns none. Also returns
    /// the run and the sessions of its agents.
    pub async fn play_on(
        &self,
        folder: &Path,
        connect: impl AsyncFnOnce(EffectRunner) -> Option<Arc<dyn RemoteEngine>>,
    ) -> Result<(TestRun, Vec<PlayedRun>), TestStartError> {
        let start = run_start(self, folder)?;
        let (run, journal) = play(self, start, Strictness::AsRecorded, connect).await;
        let unreadable = |error: &dyn std::error::Error| TestStartError(vec![error.to_string()]);
        let mut runs = Vec::new();
        for RunSummary { run, .. } in journal.runs(&RunFilter::newest(100)).await.map_err(|error| unreadable(&error))? {
            let events = journal.events(&run, 0).await.map_err(|error| unreadable(&error))?;
            let due = journal.due_effects(&run).await.map_err(|error| unreadable(&error))?;
            runs.push(PlayedRun { run, events, due: due.into_iter().map(|(_, due)| due).collect() });
        }
        runs.sort_by(|one, other| one.run.as_str().cmp(other.run.as_str()));
        Ok((run, runs))
    }

    /// Runs the test. Paths in it are relative to `folder`. It needs no network, and time is virtual.
    ///
    /// It blocks until the run has ended; it has a runtime and a thread of its own.
    pub fn run(&self, folder: &Path) -> Result<TestRun, TestStartError> {
        run_with(self, folder, Strictness::AsRecorded)
    }

    /// Runs the test, and takes any prompt for the recorded one of the same purpose, in the order of the file.
    pub fn run_with_any_prompt(&self, folder: &Path) -> Result<TestRun, TestStartError> {
        run_with(self, folder, Strictness::AnyPrompt)
    }

    /// Where a run of the test differs from what it expects, the most important first.
    pub fn mismatches(&self, run: &TestRun) -> Vec<Mismatch> {
        let mut found: Vec<Mismatch> = Vec::new();
        if let Some(failure) = &run.failure {
            found.push(Mismatch::new("run", "it is driven to its end", failure));
        }
        found.extend(run.unexpected.iter().map(|request| self.unexpected(request)));
        found.extend(run.unused.iter().map(|line| Mismatch::new("unused", line, "it was not asked for")));
        // What follows from an unexpected request says nothing new.
        if run.unexpected.is_empty() {
            found.extend(self.expect.compare(&run.facts));
        }
        found
    }

    fn unexpected(&self, request: &UnexpectedRequest) -> Mismatch {
        match request {
            UnexpectedRequest::Call(made) => {
                let same = self.calls.iter().filter(|recording| {
                    recording.call == made.call && recording.parameters == made.parameters && recording.asks.is_none()
                });
                let times = same.count();
                let expected = match nearest_call(made, &self.calls) {
                    Some(_) if times > 0 && !made.is_job => {
                        format!("this call is recorded {times} times, and is made once more")
                    }
                    Some(nearest) => {
                        let (differs, _) = parameter_differences(&nearest.parameters, &made.parameters);
                        let place = self.calls.iter().position(|call| std::ptr::eq(call, nearest)).unwrap_or_default();
                        let other =
                            if nearest.call == made.call { String::new() } else { format!("{} ", nearest.call) };
                        format!("the nearest recorded call is calls[{place}]: {other}{{{differs}}}")
                    }
                    None => format!("there is no recorded call of `{}`", made.call),
                };
                Mismatch::new("unexpected call", expected, describe_call(made))
            }
            UnexpectedRequest::Question { purpose, target, digest, excerpt } => {
                let same = self.models.iter().enumerate().filter(|(_, recording)| recording.purpose == *purpose);
                let places: Vec<String> = same.map(|(index, _)| format!("models[{index}]")).collect();
                let expected = if places.is_empty() {
                    format!("no question for `{purpose}` is recorded")
                } else {
                    let places = places.join(", ");
                    format!(
                        "a recorded question for `{purpose}` ({places}); if the changed prompt is right, \
                         run `reknit test --update`, or write `match: purpose` there"
                    )
                };
                let actual = format!("`{purpose}` asked of `{target}`, digest {digest}, which ends with:\n{excerpt}");
                Mismatch::new("unexpected question", expected, actual)
            }
        }
    }
}

fn run_with(file: &TestFile, folder: &Path, strictness: Strictness) -> Result<TestRun, TestStartError> {
    let start = run_start(file, folder)?;
    Ok(in_virtual_time(async || play(file, start, strictness, async |_| None).await.0))
}

/// Plays a test on the engine that `connect` returns, or on that of this process. Also returns the journal.
pub(crate) async fn play(
    file: &TestFile,
    start: RunStart,
    strictness: Strictness,
    connect: impl AsyncFnOnce(EffectRunner) -> Option<Arc<dyn RemoteEngine>>,
) -> (TestRun, Journal) {
    let player = Arc::new(Player::new(file, strictness));
    let clock = TestClock::starting_at(file.at_ms);
    let journal = Journal::in_memory();
    let transport = Arc::clone(&player) as Arc<dyn Transport>;
    let driver = Driver::new(journal.clone(), transport, Arc::new(clock), CallLimits::default());
    let driver = driver.with_cancel_token(player.stop.clone());
    let remote = connect(driver.effect_runner()).await;
    let driver = driver.with_remote(remote);
    let mut people = People::of(file);
    let outcome = drive_to_end(&driver, &journal, &clock, Some(start), &mut people).await;
    let mut facts = facts(&journal).await;
    facts.time_ms = clock.elapsed_ms();
    let used = player.played();
    facts.calls.clone_from(&used.made);
    let unused = if used.unexpected.is_empty() { unused(file, &used, &people) } else { Vec::new() };
    let failure = outcome.err().map(|error| error_chain(&error));
    (TestRun { facts, unused, unexpected: used.unexpected, digests: used.digests, failure }, journal)
}

/// Runs a future in a thread and a runtime of its own, in which time passes only while everything waits for it.
pub(crate) fn in_virtual_time<T: Send, F: Future<Output = T>>(future: impl FnOnce() -> F + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            match runtime {
                Ok(runtime) => runtime.block_on(future()),
                // Neither threads nor sockets are asked for, so only a lack of memory can be the reason.
                Err(error) => std::panic::resume_unwind(Box::new(error.to_string())),
            }
        });
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Starts the run, or resumes it without a start, and drives it until it has ended and nobody says or decides anything more.
pub(crate) async fn drive_to_end(
    driver: &Driver,
    journal: &Journal,
    clock: &dyn Clock,
    start: Option<RunStart>,
    people: &mut People,
) -> Result<DriveOutcome, DriveError> {
    let run = RunId::new(RUN);
    let People { decisions, messages } = people;
    let decisions = &*decisions;
    tokio::select! {
        biased;
        outcome = drive_run(driver, journal, clock, (start, &run), (decisions, messages)) => outcome,
        failure = decide_in_sessions(journal, clock, &run, decisions) => Err(failure),
    }
}

async fn drive_run(
    driver: &Driver,
    journal: &Journal,
    clock: &dyn Clock,
    (start, run): (Option<RunStart>, &RunId),
    (decisions, messages): (&Mutex<Vec<DecisionRecording>>, &mut Vec<String>),
) -> Result<DriveOutcome, DriveError> {
    let mut outcome = match start {
        Some(start) => driver.start(start).await?,
        None => driver.resume(run).await?,
    };
    loop {
        outcome = match outcome {
            DriveOutcome::Waiting => {
                if !decide(journal, clock, (run, None), decisions).await? {
                    return Ok(DriveOutcome::Waiting);
                }
                driver.resume(run).await?
            }
            ended if messages.is_empty() => return Ok(ended),
            _ => driver.follow_up(run, &messages.remove(0)).await?,
        };
    }
}

/// What the journal says about the run of a test.
pub(crate) async fn facts(journal: &Journal) -> ObservedRun {
    match run_overview(journal, &RunId::new(RUN)).await {
        Ok(overview) => ObservedRun::of(&overview),
        Err(error) => {
            ObservedRun { status: "failed".to_owned(), remarks: vec![error_chain(&error)], ..ObservedRun::default() }
        }
    }
}

fn unused(file: &TestFile, played: &Played, people: &People) -> Vec<String> {
    let is_short = |plays: PlayCount, played: u32| matches!(plays, PlayCount::Times(times) if played < times);
    let mut lines = Vec::new();
    for (index, (recording, count)) in file.calls.iter().zip(&played.calls).enumerate() {
        if is_short(recording.plays, *count) {
            let parameters = reknit_plan::yaml_line(&recording.parameters.clone().into());
            lines.push(format!("calls[{index}]: {} {parameters}", recording.call));
        }
    }
    for (index, (recording, count)) in file.models.iter().zip(&played.models).enumerate() {
        if is_short(recording.plays, *count) {
            lines.push(format!("models[{index}]: {}", recording.purpose));
        }
    }
    lines.extend(people.decisions_left().iter().map(|decision| {
        let within = decision.within.as_ref().map(|step| format!(" in `{step}`")).unwrap_or_default();
        format!("the decision about `{}`{within}", decision.step)
    }));
    lines.extend(people.messages.iter().map(|message| format!("the message `{message}`")));
    lines
}

/// The clock of a test: it starts at a given time and follows the time of its runtime, which is virtual.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestClock {
    at_ms: i64,
    started: Instant,
}

impl TestClock {
    /// A clock that now shows this time. It must be made inside a runtime.
    pub(crate) fn starting_at(at_ms: i64) -> Self {
        Self { at_ms, started: Instant::now() }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        self.at_ms.saturating_add_unsigned(self.elapsed_ms())
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let wait = u64::try_from(at_ms.saturating_sub(self.now_ms())).unwrap_or_default();
        Box::pin(tokio::time::sleep(Duration::from_millis(wait)))
    }
}
