//! Faults of the driver's own surroundings: a journal that fails for a while, a caller that goes away, a watcher that panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reknit_engine::{AskModel, Status};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_journal::{Durability, Journal};
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_protocol::{CallTool, Plan, ReplyBody, RunId, SideEffect, Step, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, Clock, DriveError, DriveOutcome, Driver, Transport, Watcher};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::drive::fixture::{Fixture, ManualClock, plan, step};

/// Answers a call when the test lets it; the calls of the step `panic` panic.
#[derive(Debug)]
struct HeldTransport {
    started: Semaphore,
    answers: Semaphore,
    calls: AtomicUsize,
}

impl Default for HeldTransport {
    fn default() -> Self {
        Self { started: Semaphore::new(0), answers: Semaphore::new(0), calls: AtomicUsize::new(0) }
    }
}

impl Transport for HeldTransport {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async { Err(ModelFailure::new(ErrorClass::ModelError, "no model should be asked")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.started.add_permits(1);
            assert_ne!(call.step.as_str(), "panic", "this call panics");
            self.answers.acquire().await.expect("it is not closed").forget();
            Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Text("paid".to_owned()), job: None })
        })
    }
}

/// A tool with a keyed and an unsafe capability, and a transport that holds its calls.
async fn held() -> (Fixture, Driver, Arc<HeldTransport>) {
    held_with(CallLimits::default()).await
}

async fn held_with(limits: CallLimits) -> (Fixture, Driver, Arc<HeldTransport>) {
    let tool = ScriptedTool::new("t").capability("pay", SideEffect::Unsafe).start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let transport = Arc::new(HeldTransport::default());
    let clock = Arc::new(ManualClock(fixture.clock.clone()));
    let driver = Driver::new(fixture.journal.clone(), transport.clone(), clock, limits);
    (fixture, driver, transport)
}

fn payment() -> Plan {
    plan(vec![step("a", "t", "pay", "{}")])
}

/// A journal in a file, and another connection to it with which a test breaks it.
fn file_journal(directory: &tempfile::TempDir) -> (Journal, rusqlite::Connection) {
    let path = directory.path().join("j.db");
    let journal = Journal::open(&path, Durability::Off).expect("a new journal");
    (journal, rusqlite::Connection::open(path).expect("the journal can be opened"))
}

fn rename(connection: &rusqlite::Connection, from: &str, to: &str) {
    connection.execute(&format!("ALTER TABLE {from} RENAME TO {to}"), []).expect("the table is renamed");
}

/// Waits in real time until `holds`: the journal works on threads of its own.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..12_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not happen");
}

#[tokio::test]
async fn a_run_goes_on_after_two_failed_renewals_of_its_lease() {
    let directory = tempfile::tempdir().expect("a folder");
    let (mut fixture, ..) = held().await;
    let (journal, connection) = file_journal(&directory);
    fixture.journal = journal;
    let transport = Arc::new(HeldTransport::default());
    let clock = Arc::new(ManualClock(fixture.clock.clone()));
    let driver = Driver::new(fixture.journal.clone(), transport.clone(), clock, CallLimits::default());
    let run = tokio::spawn({
        let started = fixture.started("r", "x", Some(payment()));
        async move { driver.start(started).await }
    });
    transport.started.acquire().await.expect("it is not closed").forget();
    rename(&connection, "runs", "away");
    for _ in 0..2 {
        fixture.clock.advance(10_000);
        // The next renewal is due once this one has failed.
        let now = fixture.clock.now_ms();
        until(async || fixture.clock.has_sleeper_until(now + 10_000)).await;
    }
    rename(&connection, "away", "runs");
    fixture.clock.advance(10_000);
    let lease_until = async || fixture.journal.summary(&RunId::new("r")).await.ok()?.lease.map(|lease| lease.until_ms);
    let end = i64::try_from(fixture.clock.now_ms()).expect("a time") + 30_000;
    until(async || lease_until().await == Some(end)).await;
    transport.answers.add_permits(1);
    let outcome = run.await.expect("no panic").expect("the run is driven");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
}

#[tokio::test]
async fn a_run_whose_inbox_cannot_be_read_goes_on() {
    let directory = tempfile::tempdir().expect("a folder");
    let (mut fixture, ..) = held().await;
    let (journal, connection) = file_journal(&directory);
    fixture.journal = journal;
    let transport = Arc::new(HeldTransport::default());
    let clock = Arc::new(ManualClock(fixture.clock.clone()));
    let driver = Driver::new(fixture.journal.clone(), transport.clone(), clock, CallLimits::default());
    rename(&connection, "inbox", "away");
    let run = tokio::spawn({
        let started = fixture.started("r", "x", Some(payment()));
        async move { driver.start(started).await }
    });
    transport.started.acquire().await.expect("it is not closed").forget();
    // Long enough for the first poll of the inbox.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!run.is_finished(), "the run does not fail");
    rename(&connection, "away", "inbox");
    transport.answers.add_permits(1);
    let outcome = run.await.expect("no panic").expect("the run is driven");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
}

#[tokio::test]
async fn a_result_that_is_ready_when_its_grace_period_ends_is_kept() {
    // Several times, because the order must not be left to chance.
    for round in 0..20 {
        let (fixture, driver, transport) = held().await;
        let cancel = CancellationToken::new();
        let driver = driver.with_cancel_token(cancel.clone());
        let run = tokio::spawn({
            let started = fixture.started("r", "x", Some(payment()));
            async move { driver.start(started).await }
        });
        transport.started.acquire().await.expect("it is not closed").forget();
        cancel.cancel();
        let now = fixture.clock.now_ms();
        until(async || fixture.clock.has_sleeper_until(now + 5_000)).await;
        transport.answers.add_permits(1);
        fixture.clock.advance(5_000);
        run.await.expect("no panic").expect("the run is driven");
        let (_, events) = fixture.restore("r").await;
        let names: Vec<&str> = events.iter().map(|event| event.kind.name()).collect();
        assert_eq!(names, ["started", "cancelled", "tool_answered"], "round {round}");
    }
}

#[tokio::test]
async fn a_call_in_progress_is_waited_for_and_the_lease_released_if_the_future_of_the_run_is_dropped() {
    let (fixture, driver, transport) = held().await;
    let run = tokio::spawn({
        let (driver, started) = (driver.clone(), fixture.started("r", "x", Some(payment())));
        async move { driver.start(started).await }
    });
    transport.started.acquire().await.expect("it is not closed").forget();
    run.abort();
    assert!(run.await.expect_err("it was aborted").is_cancelled());
    transport.answers.add_permits(1);
    let id = RunId::new("r");
    until(async || fixture.journal.summary(&id).await.expect("the run exists").lease.is_none()).await;
    let (_, events) = fixture.restore("r").await;
    assert_eq!(events.last().map(|event| event.kind.name()), Some("tool_answered"));
    assert!(fixture.journal.summary(&id).await.expect("the run exists").status.is_some(), "the call was its last step");
    assert_eq!(transport.calls.load(Ordering::Relaxed), 1);
}

/// Starts a run with two calls, drops its future during the first one, and resumes it: the second call is made only then.
async fn one_call_before_the_drop_and_one_after_it(
    fixture: &Fixture,
    driver: &Driver,
    transport: &HeldTransport,
    steps: Vec<Step>,
) {
    let run = tokio::spawn({
        let (driver, started) = (driver.clone(), fixture.started("r", "x", Some(plan(steps))));
        async move { driver.start(started).await }
    });
    transport.started.acquire().await.expect("it is not closed").forget();
    run.abort();
    assert!(run.await.expect_err("it was aborted").is_cancelled());
    transport.answers.add_permits(2);
    let id = RunId::new("r");
    until(async || fixture.journal.summary(&id).await.expect("the run exists").lease.is_none()).await;
    assert_eq!(transport.calls.load(Ordering::Relaxed), 1);
    let outcome = driver.resume(&id).await.expect("the run can be resumed at once");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
    assert_eq!(transport.calls.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn no_new_call_is_made_once_the_future_of_the_run_is_dropped() {
    let (fixture, driver, transport) = held().await;
    let steps = vec![step("a", "t", "pay", "{}"), step("b", "t", "pay", "{}").after("a")];
    one_call_before_the_drop_and_one_after_it(&fixture, &driver, &transport, steps).await;
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_is_not_made_once_the_future_of_the_run_is_dropped() {
    let (fixture, driver, transport) = held_with(CallLimits { per_tool: 1, ..CallLimits::default() }).await;
    let steps = vec![step("a", "t", "pay", "{}"), step("b", "t", "pay", "{}")];
    one_call_before_the_drop_and_one_after_it(&fixture, &driver, &transport, steps).await;
}

#[tokio::test]
async fn a_run_that_fails_keeps_the_outcomes_of_its_calls_and_can_be_resumed_at_once() {
    let (fixture, driver, transport) = held().await;
    let steps = vec![step("a", "t", "pay", "{}"), step("panic", "t", "pay", "{}")];
    transport.answers.add_permits(1);
    let error = driver.start(fixture.started("r", "x", Some(plan(steps)))).await.expect_err("a call panics");
    assert!(matches!(error, DriveError::Task(_)), "{error}");
    let (_, events) = fixture.restore("r").await;
    assert!(events.iter().any(|event| event.kind.name() == "tool_answered"), "{events:?}");
    assert_eq!(fixture.journal.summary(&RunId::new("r")).await.expect("the run exists").lease, None);
}

#[tokio::test]
async fn a_run_ends_although_its_watcher_panics() {
    let tool = ScriptedTool::new("t")
        .capability("read", SideEffect::Read)
        .on("read", CallMatcher::any(), Reply::data("done"))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    let watcher = Watcher::inline(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        panic!("a defect of the watcher");
    });
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "read", "{}")])));
    let outcome = fixture.driver().with_watcher(watcher).start(started).await.expect("the run is driven");
    assert!(matches!(outcome, DriveOutcome::Finished(answer) if answer.status == Status::Complete));
    assert_eq!(seen.load(Ordering::Relaxed), 1, "it is not called again");
}

/// Counts how often the time is asked for.
#[derive(Debug)]
struct CountingClock(ManualClock, AtomicUsize);

impl Clock for CountingClock {
    fn now_ms(&self) -> i64 {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.now_ms()
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        self.0.sleep_until(at_ms)
    }
}

#[tokio::test]
async fn all_drivers_of_a_process_share_one_limit_on_starts() {
    let directory = tempfile::tempdir().expect("a folder");
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("t")
        .capability("read", SideEffect::Read)
        .on("read", CallMatcher::any(), Reply::data("done").wait_at(&barrier))
        .start()
        .await
        .expect("the tool starts");
    let mut fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let (journal, connection) = file_journal(&directory);
    fixture.journal = journal;
    let clock = Arc::new(CountingClock(ManualClock(fixture.clock.clone()), AtomicUsize::new(0)));
    connection.execute_batch("BEGIN IMMEDIATE").expect("the journal is locked");
    let drivers: Vec<Driver> = (0..2)
        .map(|_| {
            let transport = Arc::new(HeldTransport::default());
            Driver::new(fixture.journal.clone(), transport, clock.clone(), CallLimits::default())
        })
        .collect();
    let runs: Vec<_> = (0..800)
        .map(|n| {
            let (driver, started) = (drivers[n % 2].clone(), fixture.started(&format!("r{n}"), "x", Some(payment())));
            tokio::spawn(async move { driver.start(started).await })
        })
        .collect();
    // A start asks for the time twice: for its event, and for its lease.
    let begun = || clock.1.load(Ordering::Relaxed) / 2;
    until(async || begun() >= 256).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(begun(), 256, "starts at once");
    runs.iter().for_each(tokio::task::JoinHandle::abort);
    connection.execute_batch("ROLLBACK").expect("the journal is unlocked");
}
