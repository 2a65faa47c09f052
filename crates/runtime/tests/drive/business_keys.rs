//! Business keys: runs and steps that share a journal do a deed once within its window.

use std::sync::Arc;

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::{Answer, Policy, Started, Status, Synthesis};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_protocol::{KeyRule, SideEffect, Step, Value};
use reknit_runtime::{DriveOutcome, Driver};

use crate::drive::fixture::{Fixture, plan, step};

const HOUR_MS: u64 = 3_600_000;

/// A shop whose first refund has the number 1 and all others the number 2.
async fn shop(reply: impl Fn(Reply) -> Reply) -> (RunningTool, Fixture) {
    let receipt = |number: u32| reply(Reply::data(Value::from(number)));
    let tool = ScriptedTool::new("shop")
        .capability("refund", SideEffect::Unsafe)
        .once("refund", CallMatcher::any(), receipt(1))
        .on("refund", CallMatcher::any(), receipt(2))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("shop".to_owned(), tool.base_url())], None).await;
    (tool, fixture)
}

fn refund(id: &str) -> Step {
    step(id, "shop", "refund", r#"{"order_id": 7, "amount": 10}"#)
}

fn started(fixture: &Fixture, run: &str, steps: Vec<Step>) -> Started {
    let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
    let rule = KeyRule { window_s: HOUR_MS / 1_000, ..KeyRule::new(["order_id", "amount"]) };
    policy.effects.keys.insert("shop/refund".to_owned(), rule);
    Started { policy: Arc::new(policy), ..fixture.started(run, "refund order 7", Some(plan(steps))) }
}

/// The result of each step, as text.
fn results(outcome: DriveOutcome) -> Vec<String> {
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    let Answer { status, steps, .. } = *answer;
    assert_eq!(status, Status::Complete, "{steps:?}");
    steps.iter().map(|step| format!("{:?}", step.outcome)).collect()
}

async fn refunded(driver: &Driver, started: Started) -> Vec<String> {
    results(driver.start(started).await.expect("the run is driven"))
}

#[tokio::test]
async fn a_deed_is_done_again_once_its_window_is_over() {
    let (tool, fixture) = shop(|reply| reply).await;
    let driver = fixture.driver();
    let first = refunded(&driver, started(&fixture, "a", vec![refund("s")])).await;
    fixture.clock.advance_to(1_000_000 + HOUR_MS - 1);
    assert_eq!(refunded(&driver, started(&fixture, "b", vec![refund("s")])).await, first);
    assert_eq!(tool.call_count(), 1, "the window is not over");
    fixture.clock.advance_to(1_000_000 + HOUR_MS);
    assert_ne!(refunded(&driver, started(&fixture, "c", vec![refund("s")])).await, first);
    assert_eq!(tool.call_count(), 2);
}

#[tokio::test]
async fn a_deed_whose_receipt_cannot_be_read_is_not_done_again() {
    let (tool, fixture) = shop(|reply| reply).await;
    let driver = fixture.driver();
    refunded(&driver, started(&fixture, "a", vec![refund("s")])).await;
    let keys = fixture.journal.business_keys().await.expect("the journal is readable");
    assert!(fixture.journal.settle_key(&keys[0], "{", keys[0].since_ms).await.expect("it is stored"));
    let outcome = driver.start(started(&fixture, "b", vec![refund("s")])).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    let failed = format!("{:?}", answer.steps[0].outcome);
    assert!(failed.contains("the receipt of business key") && failed.contains("cannot be read"), "{failed}");
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn two_steps_of_one_run_do_a_deed_once() {
    for segments in [false, true] {
        let (tool, fixture) = shop(|reply| reply).await;
        let run = started(&fixture, "a", vec![refund("s"), refund("again")]);
        let driver = fixture.driver();
        let clock = fixture.clock.clone();
        let driving = tokio::spawn(async move {
            if segments { SegmentedDriver::new(driver).start(run).await } else { driver.start(run).await }
        });
        // The step that does not get the key waits for the other one.
        while !driving.is_finished() {
            clock.advance_to_next();
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        let outcome = driving.await.expect("no panic").expect("the run is driven");
        let results = results(outcome);
        assert_eq!(results[0], results[1], "segments: {segments}");
        assert_eq!(tool.call_count(), 1, "segments: {segments}");
        let keys = fixture.journal.business_keys().await.expect("the journal is readable");
        assert_eq!(keys.len(), 1);
        assert!(keys[0].receipt.is_some());
    }
}

#[tokio::test]
async fn a_run_waits_while_another_does_the_deed_and_its_replay_is_the_same() {
    let barrier = CallBarrier::new();
    let (tool, fixture) = shop(|reply| reply.wait_at(&barrier)).await;
    let spawn = |run: &str| {
        let (driver, started) = (fixture.driver(), started(&fixture, run, vec![refund("s")]));
        tokio::spawn(async move { driver.start(started).await })
    };
    let first = spawn("a");
    tool.wait_for_calls(1).await;
    let second = spawn("b");
    let waits = async |count: usize| {
        while fixture
            .journal
            .events(&"b".into(), 0)
            .await
            .map_or(0, |events| events.iter().filter(|event| event.kind == "key_held").count())
            < count
        {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    waits(1).await;
    fixture.clock.advance_to(1_000_000 + 1_250);
    waits(2).await;
    assert_eq!(tool.call_count(), 1);
    barrier.release_all();
    let first = results(first.await.expect("no panic").expect("the run is driven"));
    fixture.clock.advance_to(1_000_000 + 5_000);
    let second = results(second.await.expect("no panic").expect("the run is driven"));
    assert_eq!(second, first);
    assert_eq!(tool.call_count(), 1);
    let (restored, _) = fixture.restore("b").await;
    assert_eq!(restored.answer().map(|answer| answer.steps[0].calls), Some(0));
}
