//! Runs of an older build: a run that waits continues from its snapshot, or is parked.

use std::sync::Arc;

use reknit_engine::{
    ApprovalPolicy, AskScope, Decision, Effect, MACHINE_VERSION, Policy, SnapshotMigration, SnapshotPart, Status,
    Synthesis,
};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_journal::{Holder, Journal, LeaseTerm};
use reknit_protocol::{RunId, SideEffect, Value};
use reknit_runtime::{DriveError, DriveOutcome, ParkReason, bare_overview, close, load_run, signals};

use crate::drive::fixture::{Fixture, plan, step};
use crate::drive::golden::{exported, files, import, newest_version};

const TERM: LeaseTerm = LeaseTerm { now_ms: 1_000_000, ttl_ms: 30_000 };

/// A version whose events are not replayed.
const OLDER: u32 = 5;

/// The older version called the field `late` of a run `too_late`.
const RENAMED: &[SnapshotMigration] = &[
    SnapshotMigration { from: OLDER, change: rename },
    SnapshotMigration { from: OLDER + 1, change: |_, _| Ok(()) },
    SnapshotMigration { from: OLDER + 2, change: |_, _| Ok(()) },
    SnapshotMigration { from: OLDER + 3, change: |_, _| Ok(()) },
];

fn rename(part: SnapshotPart, value: &mut Value) -> Result<(), String> {
    match value {
        Value::Object(state) if part == SnapshotPart::RunState => {
            if state.rename("too_late", "late") {
                Ok(())
            } else {
                Err("the field `too_late` is missing".to_owned())
            }
        }
        _ => Ok(()),
    }
}

/// A shop, and a run that has read a price and waits for the approval of an order. An older build wrote its journal.
async fn waiting_run_of_older_build() -> (RunningTool, Fixture) {
    let tool = ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("order", SideEffect::Unsafe)
        .on("price", CallMatcher::any(), Reply::data(Value::parse("12.50").expect("JSON")))
        .on("order", CallMatcher::any(), Reply::data("ordered"));
    let tool = tool.start().await.expect("the tool starts");
    let mut fixture = Fixture::new(&[("shop".to_owned(), tool.base_url())], None).await;
    let steps = vec![step("price", "shop", "price", "{}"), step("order", "shop", "order", "{}").after("price")];
    let approvals = ApprovalPolicy { ask: AskScope::All, ..ApprovalPolicy::default() };
    let policy = Policy { synthesis: Synthesis::Template, approvals, ..Policy::default() };
    let started = fixture.started("r", "buy", Some(plan(steps)));
    let started = reknit_engine::Started { policy: Arc::new(policy), ..started };
    let outcome = fixture.driver().start(started).await.expect("the run is driven");
    assert!(matches!(outcome, DriveOutcome::Waiting), "{outcome:?}");

    let older = format!(r#""machine_version":{OLDER}"#);
    let now = format!(r#""machine_version":{MACHINE_VERSION}"#);
    let lines = exported(&fixture.journal, &RunId::new("r")).await;
    let lines: Vec<String> =
        lines.iter().map(|line| line.replace(&now, &older).replace(r#""late":"#, r#""too_late":"#)).collect();
    fixture.journal = Journal::in_memory();
    import(&fixture.journal, &lines).await;
    (tool, fixture)
}

async fn approve(fixture: &Fixture, run: &RunId, machine: &reknit_engine::Machine) {
    decide(fixture, run, machine, &Decision::Approve).await;
}

async fn decide(fixture: &Fixture, run: &RunId, machine: &reknit_engine::Machine, decision: &Decision) {
    for effect in machine.pending() {
        if let Effect::AskPerson(ask) = effect {
            let signal = signals::decide(ask.id.clone(), ask.hash.clone(), decision.clone());
            fixture.journal.send(run, signal, 1_000_000).await.expect("the decision is sent");
        }
    }
}

#[tokio::test]
async fn a_waiting_run_of_an_older_build_is_migrated_and_finished() {
    let (tool, fixture) = waiting_run_of_older_build().await;
    let run = RunId::new("r");
    let driver = || fixture.driver().with_migrations(RENAMED);
    let outcome = driver().resume(&run).await.expect("the run can be restored");
    assert!(matches!(outcome, DriveOutcome::Waiting), "{outcome:?}");
    // It has a snapshot of this build now.
    approve(&fixture, &run, &load_run(&fixture.journal, &run).await.expect("this build reads it").machine).await;
    let outcome = driver().resume(&run).await.expect("the run goes on");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!((answer.status, tool.call_count()), (Status::Complete, 2), "{answer:?}");
    assert!(answer.text.contains("12.50"), "the result from before the upgrade is kept: {}", answer.text);
    let ending = fixture.journal.ending(&run).await.expect("readable").expect("it is stored");
    assert!(ending.contains(r#""price":[{"at_ms""#), "the history from before the upgrade is kept: {ending}");
}

#[tokio::test]
async fn a_waiting_run_of_an_older_build_without_a_migration_is_parked_until_a_build_can_continue_it() {
    let (tool, fixture) = waiting_run_of_older_build().await;
    let run = RunId::new("r");
    let error = fixture.driver().with_migrations(&[]).resume(&run).await.expect_err("there is no migration");
    assert!(matches!(error, DriveError::Restore(_)), "{error}");
    let parked = fixture.journal.summary(&run).await.expect("the run exists").parked.expect("it is parked");
    let reason = ParkReason::parse(&parked).expect("a reason").reason;
    assert!(reason.contains(&format!("no migration from version {OLDER}")), "{reason}");

    let known = bare_overview(&fixture.journal, &run).await.expect("it can be shown");
    assert_eq!((known.status.as_str(), known.replies.len(), known.open_calls.len()), ("parked", 1, 0));
    assert!(known.history.contains_key("price"), "{known:?}");

    let outcome = fixture.driver().with_migrations(RENAMED).resume(&run).await.expect("a build that can");
    assert!(matches!(outcome, DriveOutcome::Waiting), "{outcome:?}");
    assert_eq!(fixture.journal.summary(&run).await.expect("the run exists").parked, None);
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_parked_run_can_be_closed_and_names_the_calls_without_an_outcome() {
    let (_tool, fixture) = waiting_run_of_older_build().await;
    let run = RunId::new("r");
    let lease = fixture.journal.acquire(&run, &Holder::this_process(), TERM).await.expect("nobody drives it");
    fixture.journal.claim(&lease, "order/call/1").await.expect("the call is claimed");
    fixture.journal.release(&lease).await.expect("the lease is released");
    fixture.driver().with_migrations(&[]).resume(&run).await.expect_err("there is no migration");
    close(&fixture.journal, &run, "closed", "ordered by phone", TERM).await.expect("it is closed");
    let summary = fixture.journal.summary(&run).await.expect("the run exists");
    assert_eq!(summary.status.as_deref(), Some("closed"));
    let stored = fixture.journal.ending(&run).await.expect("readable").expect("it is stored");
    assert!(stored.contains("ordered by phone") && stored.contains(r#""open_calls":["order/call/1"]"#), "{stored}");
    assert!(stored.contains("12.50"), "results are kept: {stored}");
}

/// A shop, and a journal with a run of the golden journals, which an earlier build recorded.
async fn recorded_run(scenario: &str) -> (RunningTool, Fixture) {
    let tool = ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("order", SideEffect::Unsafe)
        .on("order", CallMatcher::any(), Reply::data("ordered"));
    let tool = tool.start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("shop".to_owned(), tool.base_url())], None).await;
    let files = files(newest_version());
    let (_, lines) = files.iter().find(|(name, _)| name.contains(scenario)).expect("it is recorded");
    import(&fixture.journal, lines).await;
    (tool, fixture)
}

#[tokio::test]
async fn recorded_runs_are_finished_and_no_call_is_repeated() {
    let happened = || Decision::Happened { result: Value::from("it is there") };
    for (scenario, decision, calls) in [("approval-waiting", Decision::Approve, 1), ("unknown-outcome", happened(), 0)]
    {
        let (tool, fixture) = recorded_run(scenario).await;
        let run = RunId::new("r");
        let outcome = fixture.driver().resume(&run).await.expect("the run can be restored");
        assert!(matches!(outcome, DriveOutcome::Waiting), "{scenario}: {outcome:?}");
        let machine = load_run(&fixture.journal, &run).await.expect("this build reads it").machine;
        decide(&fixture, &run, &machine, &decision).await;
        let outcome = fixture.driver().resume(&run).await.expect("the run goes on");
        let DriveOutcome::Finished(answer) = outcome else { panic!("{scenario}: {outcome:?}") };
        assert_eq!((answer.status, tool.call_count()), (Status::Complete, calls), "{scenario}: {answer:?}");
        assert!(fixture.journal.ending(&run).await.expect("readable").is_some(), "{scenario}");
    }
}

#[tokio::test]
async fn a_recorded_run_is_exported_and_cancelled() {
    let (tool, fixture) = recorded_run("approval-waiting").await;
    let run = RunId::new("r");
    assert!(exported(&fixture.journal, &run).await.len() > 3);
    fixture.journal.send(&run, signals::cancel(), 1_000_000).await.expect("the message is sent");
    let outcome = fixture.driver().resume(&run).await.expect("the run can be restored");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!((answer.status, tool.call_count()), (Status::Cancelled, 0), "{answer:?}");
}
