//! Clocks that are set back or forward while a run is stored.

use std::sync::Arc;

use reknit_engine::{Decision, Effect, Policy, Status, Synthesis};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedTool, VirtualClock};
use reknit_protocol::{KeyRule, RunId, SideEffect};
use reknit_runtime::{DriveOutcome, signals};

use crate::drive::fixture::{Fixture, plan, step};

#[tokio::test]
async fn a_run_stored_an_hour_ahead_ends_within_its_time_after_the_clock_is_set_back() {
    let tool = ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .once("pay", CallMatcher::any(), Reply::reset())
        .on("pay", CallMatcher::any(), Reply::silence())
        .start()
        .await
        .expect("the tool starts");
    let (now_ms, hour_ms, active_ms) = (1_000_000, 3_600_000, 60_000);
    let mut fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    fixture.clock = VirtualClock::new(now_ms + hour_ms);
    let mut started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "pay", r#"{"order": 7}"#)])));
    let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
    policy.limits.active_ms = Some(active_ms);
    policy.effects.keys.insert("t/pay".to_owned(), KeyRule::new(["order"]));
    started.policy = Arc::new(policy);
    assert_eq!(fixture.driver().start(started).await.expect("the run is driven"), DriveOutcome::Waiting);
    let (run, _) = fixture.restore("r").await;
    let asked = run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    let ask = asked.expect("a person is asked");
    let id = RunId::new("r");
    let decision = signals::decide(ask.id.clone(), ask.hash.clone(), Decision::Approve);
    fixture.journal.send(&id, decision, 0).await.expect("the run waits");

    fixture.clock = VirtualClock::new(now_ms);
    let (driver, resumed) = (fixture.driver(), id.clone());
    let run = tokio::spawn(async move { driver.resume(&resumed).await });
    tool.wait_for_calls(2).await;
    while !run.is_finished() {
        fixture.clock.advance_to_next();
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        assert!(fixture.clock.now_ms() < now_ms + hour_ms, "the run goes on although its time is over");
        let lease = fixture.journal.summary(&id).await.expect("the run exists").lease;
        let until_ms = lease.map_or(0, |lease| lease.until_ms.unsigned_abs());
        assert!(until_ms < now_ms + hour_ms, "other processes compare the lease with the system clock: {until_ms}");
        let keys = fixture.journal.business_keys().await.expect("the journal is readable");
        let since_ms = keys.iter().map(|key| key.since_ms.unsigned_abs()).collect::<Vec<_>>();
        assert!(since_ms.len() == 1 && since_ms[0] < now_ms + hour_ms, "and the window of a key: {since_ms:?}");
    }
    let outcome = run.await.expect("the task does not panic").expect("the run is driven");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!(answer.status, Status::BudgetExhausted);
    let (_, events) = fixture.restore("r").await;
    assert!(events.is_sorted_by_key(|event| event.at_ms), "the time of a run never goes back");
}
