//! Cancelled runs.

use std::time::Duration;

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::{Outcome, Status};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_mend::Fate;
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{CallLimits, DriveOutcome, signals};
use tokio_util::sync::CancellationToken;

use crate::drive::fixture::{Fixture, plan, step};

#[tokio::test]
async fn a_call_in_progress_may_still_return_after_the_run_is_cancelled() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("t")
        .capability("order", SideEffect::Keyed)
        .on("order", CallMatcher::any(), Reply::data("done").wait_at(&barrier))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let cancel = CancellationToken::new();
    let driver = fixture.driver().with_cancel_token(cancel.clone());
    let started = fixture.started(
        "r",
        "x",
        Some(plan(vec![step("a", "t", "order", "{}"), step("b", "t", "order", r#"{"x": "{{a}}"}"#)])),
    );
    let run = tokio::spawn(async move { driver.start(started).await });
    barrier.wait_for_arrivals(1).await;
    cancel.cancel();
    // Release the call only after the cancellation is in the journal.
    fixture.wait_for_event("r", "cancelled").await;
    barrier.release_all();
    let DriveOutcome::Finished(answer) = run.await.expect("the task does not panic").expect("the run is driven") else {
        panic!("the run waits for a person")
    };
    assert_eq!(answer.status, Status::Cancelled);
    assert!(matches!(answer.steps[0].outcome, Outcome::Done(_)), "{answer:?}");
    assert!(matches!(answer.steps[1].outcome, Outcome::Skipped { .. }), "{answer:?}");
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_is_not_sent_after_the_run_is_cancelled() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("t")
        .capability("order", SideEffect::Keyed)
        .on("order", CallMatcher::any(), Reply::data("done").wait_at(&barrier))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let cancel = CancellationToken::new();
    let limits = CallLimits { per_tool: 1, ..CallLimits::default() };
    let driver = fixture.driver_with(limits).with_cancel_token(cancel.clone());
    let orders = plan(vec![step("a", "t", "order", "{}"), step("b", "t", "order", "{}")]);
    let started = fixture.started("r", "x", Some(orders));
    let run = tokio::spawn(async move { driver.start(started).await });
    barrier.wait_for_arrivals(1).await;
    cancel.cancel();
    fixture.wait_for_event("r", "cancelled").await;
    barrier.release_all();
    let DriveOutcome::Finished(answer) = run.await.expect("the task does not panic").expect("the run is driven") else {
        panic!("the run waits for a person")
    };
    assert_eq!(answer.status, Status::Cancelled);
    let outcomes = answer.steps.iter().map(|step| &step.outcome);
    assert_eq!(outcomes.clone().filter(|outcome| matches!(outcome, Outcome::Done(_))).count(), 1, "{answer:?}");
    let not_sent = |outcome: &&Outcome| matches!(outcome, Outcome::Failed { fate: Fate::NotSent, .. });
    assert_eq!(outcomes.filter(not_sent).count(), 1, "{answer:?}");
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_call_that_does_not_return_within_the_grace_period_has_an_unknown_fate() {
    for segmented in [false, true] {
        let tool = ScriptedTool::new("t")
            .capability("order", SideEffect::Keyed)
            .on("order", CallMatcher::any(), Reply::silence())
            .start()
            .await
            .expect("the tool starts");
        let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
        let driver = fixture.driver();
        let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "order", "{}")])));
        let run = tokio::spawn(async move {
            if segmented { SegmentedDriver::new(driver).start(started).await } else { driver.start(started).await }
        });
        tool.wait_for_calls(1).await;
        fixture.journal.send(&RunId::new("r"), signals::cancel(), 0).await.expect("the run exists");
        // The clock stands still until then: otherwise the deadline of the call might come first.
        fixture.wait_for_event("r", "cancelled").await;
        let answer = tokio::time::timeout(Duration::from_mins(2), async {
            // The driver waits for the deadline, the renewal of the lease and the grace period, which ends first.
            while !run.is_finished() {
                fixture.clock.advance(1_000);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            run.await
        });
        let ended =
            answer.await.expect("the run ends in time").expect("the task does not panic").expect("the run is driven");
        let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
        assert_eq!(answer.status, Status::Cancelled);
        assert!(matches!(answer.steps[0].outcome, Outcome::Failed { fate: Fate::Unknown, .. }), "{answer:?}");
    }
}
