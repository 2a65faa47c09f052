//! Leases of runs, and runs that wait for a person.

use std::sync::Arc;

use reknit_engine::{AskPerson, Decision, Effect, Run, Status};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{DriveError, DriveOutcome, signals};

use crate::drive::fixture::{Fixture, plan, step};

#[tokio::test]
async fn a_run_that_another_driver_drives_cannot_be_resumed() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("t")
        .capability("read", SideEffect::Read)
        .on("read", CallMatcher::any(), Reply::data("done").wait_at(&barrier))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let driver = fixture.driver();
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "read", "{}")])));
    let run = tokio::spawn(async move { driver.start(started).await });
    barrier.wait_for_arrivals(1).await;
    let error = fixture.driver().resume(&RunId::new("r")).await.expect_err("another driver has the lease");
    assert!(matches!(error, DriveError::Lease(_)), "{error}");
    barrier.release_all();
    run.await.expect("the task does not panic").expect("the run is driven");
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn an_unsafe_call_with_an_unknown_fate_is_sent_again_only_after_a_person_approves() {
    let tool = ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .once("pay", CallMatcher::any(), Reply::reset())
        .on("pay", CallMatcher::any(), Reply::data("paid"))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "pay", "{}")])));
    assert_eq!(fixture.driver().start(started).await.expect("the run is driven"), DriveOutcome::Waiting);
    assert_eq!(fixture.driver().resume(&RunId::new("r")).await.expect("the run is driven"), DriveOutcome::Waiting);
    assert_eq!(tool.call_count(), 1, "the call is not sent again without a decision");

    let (run, _) = fixture.restore("r").await;
    let ask = run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    let ask = ask.expect("a person is asked");
    let decision = signals::decide(ask.id.clone(), ask.hash.clone(), Decision::Approve);
    fixture.journal.send(&RunId::new("r"), decision, 0).await.expect("the run exists");
    let ended = fixture.driver().resume(&RunId::new("r")).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
    assert_eq!(answer.status, Status::Complete);
    let keys: Vec<_> = tool.calls().into_iter().map(|call| call.idempotency_key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1], "both calls have the same key");
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_answered_with_no() {
    let tool = ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .on("pay", CallMatcher::any(), Reply::reset())
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "pay", "{}")])));
    let person_ms = started.policy.limits.person_ms;
    assert_eq!(fixture.driver().start(started).await.expect("the run is driven"), DriveOutcome::Waiting);
    fixture.clock.advance(person_ms - 1);
    assert_eq!(fixture.driver().resume(&RunId::new("r")).await.expect("the run is driven"), DriveOutcome::Waiting);
    fixture.clock.advance(1);
    // A decision that comes too late counts no more.
    let (run, _) = fixture.restore("r").await;
    let late = signals::decide(question(&run).id.clone(), question(&run).hash.clone(), Decision::Approve);
    let now_ms = fixture.clock.now_ms().cast_signed();
    fixture.journal.send(&RunId::new("r"), late, now_ms).await.expect("the run exists");
    let ended = fixture.driver().resume(&RunId::new("r")).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
    assert_eq!((answer.status, tool.call_count()), (Status::Failed, 1), "{}", answer.text);
    assert!(answer.text.contains("the time to approve it ran out"), "{}", answer.text);
}

#[tokio::test]
async fn a_late_yes_does_not_replace_a_no_in_time() {
    let tool = ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .on("pay", CallMatcher::any(), Reply::reset())
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "pay", "{}")])));
    let person_ms = started.policy.limits.person_ms;
    assert_eq!(fixture.driver().start(started).await.expect("the run is driven"), DriveOutcome::Waiting);
    let (run, _) = fixture.restore("r").await;
    let ask = question(&run);
    for (decision, wait_ms) in [(Decision::Deny { reason: None }, person_ms), (Decision::Approve, 0)] {
        let now_ms = fixture.clock.now_ms().cast_signed();
        let signal = signals::decide(ask.id.clone(), ask.hash.clone(), decision);
        fixture.journal.send(&RunId::new("r"), signal, now_ms).await.expect("the run exists");
        fixture.clock.advance(wait_ms);
    }
    let ended = fixture.driver().resume(&RunId::new("r")).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
    assert_eq!((answer.status, tool.call_count()), (Status::Failed, 1), "{}", answer.text);
    assert!(answer.text.contains("it was not approved"), "{}", answer.text);
}

#[tokio::test]
async fn a_decision_in_time_counts_also_if_the_run_goes_on_after_that_time() {
    let tool = ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .once("pay", CallMatcher::any(), Reply::reset())
        .on("pay", CallMatcher::any(), Reply::data("paid"))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let started = fixture.started("r", "x", Some(plan(vec![step("a", "t", "pay", "{}")])));
    let person_ms = started.policy.limits.person_ms;
    assert_eq!(fixture.driver().start(started).await.expect("the run is driven"), DriveOutcome::Waiting);
    let (run, _) = fixture.restore("r").await;
    let decision = signals::decide(question(&run).id.clone(), question(&run).hash.clone(), Decision::Approve);
    let now_ms = fixture.clock.now_ms().cast_signed();
    fixture.journal.send(&RunId::new("r"), decision, now_ms).await.expect("the run exists");
    fixture.clock.advance(2 * person_ms);
    let ended = fixture.driver().resume(&RunId::new("r")).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
    assert_eq!((answer.status, tool.call_count()), (Status::Complete, 2), "{}", answer.text);
}

fn question(run: &Run) -> Arc<AskPerson> {
    let asked = run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    asked.expect("a person is asked")
}
