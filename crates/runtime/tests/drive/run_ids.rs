//! Run ids that a caller chooses, and runs that are retried.

use std::sync::Arc;

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::{Metadata, Status};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_journal::{Deletion, StatusFilter};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{DriveError, DriveOutcome, RunOwner};

use crate::drive::fixture::{Fixture, plan, step};

async fn paying(first: Option<Reply>, reply: Reply) -> (RunningTool, Fixture) {
    let mut tool = ScriptedTool::new("t").capability("pay", SideEffect::Unsafe);
    if let Some(first) = first {
        tool = tool.once("pay", CallMatcher::any(), first);
    }
    let tool = tool.on("pay", CallMatcher::any(), reply).start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    (tool, fixture)
}

fn refund(fixture: &Fixture) -> reknit_engine::Started {
    let id = RunId::parse("refund-7").expect("an id");
    fixture.started("", "refund 7", Some(plan(vec![step("a", "t", "pay", "{}")]))).with_id(id)
}

#[tokio::test]
async fn the_same_start_again_returns_the_outcome_and_calls_nothing() {
    let (tool, fixture) = paying(None, Reply::data("paid")).await;
    let first = fixture.driver().start(refund(&fixture)).await.expect("it is driven");
    let again = fixture.driver().start(refund(&fixture)).await.expect("it is found");
    let segmented = SegmentedDriver::new(fixture.driver()).start(refund(&fixture)).await.expect("it is found");
    assert_eq!((&again, &segmented), (&first, &first));
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_start_with_another_request_is_refused() {
    let (tool, fixture) = paying(None, Reply::data("paid")).await;
    fixture.driver().start(refund(&fixture)).await.expect("it is driven");
    let other = refund(&fixture).with_metadata(Metadata::from_pairs([("tenant", "acme")]).expect("metadata"));
    let refused = fixture.driver().start(other).await;
    assert!(matches!(&refused, Err(DriveError::OtherRequest { stored, given, .. }) if stored != given), "{refused:?}");
    let run = RunId::new("refund-7");
    fixture.journal.delete(&run, Deletion::Ended, 0).await.expect("it is deleted");
    let deleted = fixture.driver().start(refund(&fixture)).await;
    assert!(matches!(deleted, Err(DriveError::Create(_))), "{deleted:?}");
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_start_never_finds_the_run_of_another_owner() {
    let (tool, fixture) = paying(None, Reply::data("paid")).await;
    let owner = |name: &str| {
        let name = name.to_owned();
        Some(Arc::new(RunOwner { name, tools: None, monthly_budget: None, sees_all_runs: true }))
    };
    let drivers = [None, owner("ann"), owner("bob")].map(|owner| fixture.driver().with_owner(owner));
    for (at, driver) in drivers.iter().enumerate() {
        let id = RunId::new(format!("refund-{at}"));
        driver.start(refund(&fixture).with_id(id.clone())).await.expect("it is driven");
        for (other, driver) in drivers.iter().enumerate() {
            let again = driver.start(refund(&fixture).with_id(id.clone())).await;
            match (other == at, &again) {
                (true, Ok(_)) | (false, Err(DriveError::OtherOwner(_))) => {}
                _ => panic!("{at} {other}: {again:?}"),
            }
        }
    }
    assert_eq!(tool.call_count(), 3);
}

#[tokio::test]
async fn a_start_waits_for_the_driver_that_has_the_run() {
    let barrier = CallBarrier::new();
    let (tool, fixture) = paying(None, Reply::data("paid").wait_at(&barrier)).await;
    let (driver, started) = (fixture.driver(), refund(&fixture));
    let first = tokio::spawn(async move { driver.start(started).await });
    barrier.wait_for_arrivals(1).await;
    let (driver, started) = (fixture.driver(), refund(&fixture));
    let second = tokio::spawn(async move { driver.start(started).await });
    // The second driver looks at the run, and sleeps until its next look.
    tokio::task::yield_now().await;
    barrier.release_all();
    let first = first.await.expect("no panic").expect("it is driven");
    while !second.is_finished() {
        fixture.clock.advance(200);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(second.await.expect("no panic").expect("it is found"), first);
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_failed_run_is_retried_in_the_same_journal() {
    let (tool, fixture) = paying(Some(Reply::status(403)), Reply::data("paid")).await;
    let DriveOutcome::Finished(failed) = fixture.driver().start(refund(&fixture)).await.expect("it is driven") else {
        panic!("the run waits")
    };
    assert_eq!(failed.status, Status::Failed);
    let run = RunId::new("refund-7");
    let DriveOutcome::Finished(retried) = fixture.driver().retry(&run).await.expect("it is retried") else {
        panic!("the run waits")
    };
    assert_eq!((retried.status, retried.spent.tool_calls, tool.call_count()), (Status::Complete, 2, 2));
    let ended = reknit_journal::RunFilter::of_status(StatusFilter::Ended, 9);
    let runs = fixture.journal.runs(&ended).await.expect("runs");
    assert_eq!((runs.len(), runs[0].status.as_deref()), (1, Some("complete")));
    let again = fixture.driver().retry(&run).await;
    assert!(matches!(again, Err(DriveError::NotRetriable { .. })), "{again:?}");
}
