//! A restored run must ask for the same effects as before.

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::{Event, EventKind, MACHINE_VERSION, Run};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedTool};
use reknit_journal::{DueEffect, Holder, Lease, LeaseTerm, NewEvent, NewRun, Snapshot};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{Changes, DriveError, DriveOutcome, ParkReason};

use crate::drive::fixture::{Fixture, plan, step};

/// The driver that resumes the run, and what it restores the run from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Resume {
    Driver,
    SegmentedDriver,
    SegmentedDriverFromSnapshot,
}

/// Writes a run with one call to the journal, with the digest of another call.
async fn write_mismatching_run(fixture: &Fixture, resume: Resume) {
    let lease = write_run_with_another_digest(fixture, "read", resume).await;
    fixture.journal.release(&lease).await.expect("the lease is released");
}

async fn write_run_with_another_digest(fixture: &Fixture, capability: &str, resume: Resume) -> Lease {
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", capability, "{}")])));
    let event = Event { at_ms: 1_000_000, kind: EventKind::Started(Box::new(started)) };
    let (run, _) = Run::begin(&event).expect("the run begins");
    let due = run.pending().into_iter().filter_map(|effect| Some(effect.id()?.to_string()));
    let due = due.map(|effect| DueEffect::new(effect, "the digest of another call"));
    let body = serde_json::to_string(&event).expect("it can be serialized");
    let first = NewEvent::new(event.at_ms, "started", body).with_due(due);
    let new = NewRun::new("r", "x", "", first);
    let term = LeaseTerm { now_ms: 1_000_000, ttl_ms: 30_000 };
    let lease = fixture.journal.create(new, &Holder::this_process(), term).await.expect("the run is created");
    if resume == Resume::SegmentedDriverFromSnapshot {
        let machine = run.snapshot().expect("it can be serialized");
        let overview = r#"{"history":{"started":{},"entries":{}},"records":[]}"#;
        let body = format!(r#"{{"machine":{{"run":{machine}}},"overview":{overview}}}"#);
        let snapshot = Snapshot { len: 1, machine_version: MACHINE_VERSION, body };
        fixture.journal.save_snapshot(&lease, snapshot).await.expect("the snapshot is saved");
    }
    lease
}

#[tokio::test]
async fn a_restored_run_that_asks_for_another_call_is_parked_without_a_call() {
    let tool =
        ScriptedTool::new("t").capability("read", SideEffect::Read).on("read", CallMatcher::any(), Reply::data("done"));
    let tool = tool.start().await.expect("the tool starts");
    for resume in [Resume::Driver, Resume::SegmentedDriver, Resume::SegmentedDriverFromSnapshot] {
        let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
        write_mismatching_run(&fixture, resume).await;
        let run = RunId::new("r");
        let outcome = match resume {
            Resume::Driver => fixture.driver().resume(&run).await,
            Resume::SegmentedDriver | Resume::SegmentedDriverFromSnapshot => {
                SegmentedDriver::new(fixture.driver()).resume(&run).await
            }
        };
        let error = outcome.expect_err("the run does not match its events");
        assert!(matches!(error, DriveError::Restore(_)), "{resume:?}: {error}");
        let summary = fixture.journal.summary(&run).await.expect("the run exists");
        assert_eq!((summary.status, summary.lease), (None, None), "{resume:?}");
        let parked = ParkReason::parse(&summary.parked.expect("the run is parked")).expect("a reason");
        assert_eq!((parked.event, parked.effect.as_deref()), (Some(0), Some("a/call/1")), "{resume:?}");
        assert_eq!(parked.digest_before.as_deref(), Some("the digest of another call"), "{resume:?}");
        assert!(parked.digest_now.is_some_and(|digest| digest.len() > 30), "{resume:?}");
        assert_eq!(summary.len, 1, "{resume:?}: the events are kept");
    }
    assert_eq!(tool.call_count(), 0);
}

#[tokio::test]
async fn a_parked_run_goes_on_from_what_is_decided_now_once_a_person_accepts_it() {
    let tool = ScriptedTool::new("t").capability("read", SideEffect::Read).capability("pay", SideEffect::Unsafe);
    let tool =
        tool.on("read", CallMatcher::any(), Reply::data("done")).on("pay", CallMatcher::any(), Reply::data("paid"));
    let tool = tool.start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    write_mismatching_run(&fixture, Resume::Driver).await;
    let run = RunId::new("r");
    fixture.driver().resume(&run).await.expect_err("the run does not match its events");
    let outcome = fixture.driver().resume_with(&run, Changes::Accepted).await.expect("the changes are accepted");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    assert_eq!(tool.call_count(), 1);
    let summary = fixture.journal.summary(&run).await.expect("the run exists");
    assert_eq!((summary.status.as_deref(), summary.parked), (Some("complete"), None));
    let events = fixture.journal.events(&run, 0).await.expect("the events are kept");
    assert_eq!(events[1].kind, "changes_accepted");
}

#[tokio::test]
async fn a_call_that_may_have_been_made_is_not_made_again_when_changes_are_accepted() {
    let tool = ScriptedTool::new("t").capability("pay", SideEffect::Unsafe);
    let tool = tool.on("pay", CallMatcher::any(), Reply::data("paid")).start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let lease = write_run_with_another_digest(&fixture, "pay", Resume::Driver).await;
    fixture.journal.claim(&lease, "a/call/1").await.expect("the call is claimed");
    fixture.journal.release(&lease).await.expect("the lease is released");
    let run = RunId::new("r");
    fixture.driver().resume(&run).await.expect_err("the run does not match its events");
    let outcome = fixture.driver().resume_with(&run, Changes::Accepted).await.expect("the changes are accepted");
    assert!(matches!(outcome, DriveOutcome::Waiting), "a person decides: {outcome:?}");
    assert_eq!(tool.call_count(), 0);
}
