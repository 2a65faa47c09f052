//! Time limits of steps and runs.

use reknit_engine::{Decision, Effect, EventKind, Outcome, Policy, Status};
use reknit_mend::Fate;
use reknit_model_api::ErrorClass;
use reknit_protocol::{Delivery, TransportFailure, TransportKind};
use reknit_protocol::{Step, Value};

use crate::world::{Play, effect_id, plan, policy, started, step};

/// A step, one that depends on it, and an independent one.
fn steps() -> Vec<Step> {
    vec![step("a", "read", "{}"), step("b", "read", r#"{"x": "{{a}}"}"#), step("c", "read", "{}")]
}

fn with(steps: Vec<Step>, change: impl FnOnce(&mut Policy)) -> Play {
    let mut policy = policy();
    policy.limits.step_ms = Some(10_000);
    change(&mut policy);
    Play::begin(started(Some(plan(steps)), policy))
}

fn reason(play: &Play, step: &str) -> String {
    let answer = play.run.answer().expect("the run has ended");
    let report = answer.steps.iter().find(|report| report.step.as_str() == step).expect("the answer has the step");
    match &report.outcome {
        Outcome::Failed { reason, .. } | Outcome::Unconfirmed { reason, .. } | Outcome::Skipped { reason } => {
            reason.clone()
        }
        Outcome::Done(value) => format!("done: {value}"),
    }
}

fn timed_out(effect: &str) -> EventKind {
    let failure = TransportFailure {
        kind: TransportKind::TimedOut,
        delivery: Delivery::Possible,
        message: "no answer".to_owned(),
    };
    EventKind::ToolFailed { effect: effect_id(effect), failure }
}

#[test]
fn a_step_past_its_limit_fails_and_only_its_dependents_are_skipped() {
    let mut play = with(steps(), |_| ());
    assert_eq!(play.call("a/call/1").timeout_ms, 10_000);
    play.now_ms += 10_000;
    play.happen(timed_out("a/call/1"));
    play.answer_tool("c/call/1", 200, "1");
    assert!(
        reason(&play, "a").ends_with("; the time limit of 10000 ms for the step is reached"),
        "{}",
        reason(&play, "a")
    );
    assert_eq!(reason(&play, "b"), "it needs `a`, which failed");
    assert_eq!(reason(&play, "c"), "done: 1");
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Partial));
}

#[test]
fn a_late_success_is_a_success() {
    let mut play = with(steps(), |_| ());
    play.now_ms += 20_000;
    play.answer_tool("a/call/1", 200, "1");
    assert_eq!(play.due(), ["b/call/1", "c/call/1"]);
    assert_eq!(play.call("b/call/1").timeout_ms, 10_000, "the limit of a step starts when its inputs are there");
}

#[test]
fn the_timeout_of_a_call_is_the_time_left_to_its_step_and_run() {
    let mut play = with(steps(), |policy| policy.limits.active_ms = Some(12_000));
    play.now_ms += 4_000;
    play.answer_tool("a/call/1", 503, "{}");
    play.wake("a/retry-wait/1");
    let waited = play.now_ms - 1_000 - 4_000;
    assert_eq!(i64::try_from(play.call("a/call/2").timeout_ms), Ok(10_000 - 4_000 - waited));
    play.answer_tool("a/call/2", 200, "1");
    assert_eq!(i64::try_from(play.call("b/call/1").timeout_ms), Ok(12_000 - 4_000 - waited));
}

#[test]
fn a_step_fails_at_once_if_the_next_attempt_would_start_after_its_limit() {
    let mut play = with(steps(), |policy| policy.resend.base_ms = 15_000);
    play.answer_tool("a/call/1", 503, "{}");
    play.happen(EventKind::BreakerOpen {
        effect: effect_id("c/call/1"),
        until_ms: play.now_ms + 11_000,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
    for step in ["a", "c"] {
        let expected = "the next attempt would start after the step's time limit of 10000 ms";
        assert!(reason(&play, step).ends_with(expected), "{}", reason(&play, step));
    }
}

/// The timeout of the pending question to a model.
fn model_timeout_ms(play: &Play) -> Option<u64> {
    play.run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => ask.request.timeout_ms,
        _ => None,
    })
}

#[test]
fn a_question_about_a_step_times_out_with_the_step() {
    let mut play = with(vec![step("a", "read", "{}")], |_| ());
    play.now_ms += 3_000;
    play.answer_tool("a/call/1", 422, r#"{"message": "x must be a colour"}"#);
    assert_eq!(model_timeout_ms(&play), Some(7_000));
    play.now_ms += 5_000;
    play.fail_model("a/feedback/1", ErrorClass::NetworkError);
    assert_eq!((play.due(), model_timeout_ms(&play)), (vec!["a/feedback/2".to_owned()], Some(2_000)));
    play.now_ms += 2_000;
    play.fail_model("a/feedback/2", ErrorClass::Timeout);
    assert!(
        reason(&play, "a").ends_with("; the time limit of 10000 ms for the step is reached"),
        "{}",
        reason(&play, "a")
    );
    assert_eq!(play.run.spent().model_calls, 2);
}

#[test]
fn waiting_for_a_person_or_for_a_restart_does_not_use_the_time_of_a_step() {
    let mut play = with(vec![step("a", "unsafe", "{}")], |_| ());
    play.now_ms += 1_000;
    play.happen(EventKind::Interrupted { effect: effect_id("a/call/1") });
    play.now_ms += 3_600_000;
    play.happen(EventKind::Resumed);
    play.now_ms += 3_600_000;
    play.decide(Decision::Approve);
    assert_eq!(play.call("a/call/2").timeout_ms, 9_000);
    play.now_ms += 60_000;
    play.happen(EventKind::Resumed);
    play.now_ms += 2_000;
    play.happen(EventKind::Interrupted { effect: effect_id("a/call/2") });
    play.decide(Decision::Approve);
    assert_eq!(play.call("a/call/3").timeout_ms, 7_000);
}

#[test]
fn a_plan_can_set_the_time_limit_of_a_step() {
    let mut long = step("a", "read", "{}");
    long.metadata.insert("limit_ms", Value::from(20_000_u64));
    let play = with(vec![long.clone(), step("b", "read", "{}")], |policy| policy.limits.call_ms = 60_000);
    assert_eq!((play.call("a/call/1").timeout_ms, play.call("b/call/1").timeout_ms), (20_000, 10_000));
    long.metadata.insert("limit_ms", Value::from("soon"));
    let error = Step::from_value(&long.to_value()).expect_err("the limit is not a number").to_string();
    assert!(error.contains("limit_ms") && error.contains("a whole number of milliseconds"), "{error}");
}

#[test]
fn a_call_that_times_out_with_its_step_has_an_unknown_fate() {
    let mut play = with(vec![step("a", "keyed", "{}")], |_| ());
    play.now_ms += 10_000;
    play.happen(timed_out("a/call/1"));
    let answer = play.run.answer().expect("the run has ended");
    assert!(matches!(answer.steps[0].outcome, Outcome::Failed { fate: Fate::Unknown, .. }), "{answer:?}");
}

#[test]
fn active_time_includes_the_time_before_a_crash_but_not_the_downtime() {
    let mut play = with(vec![step("a", "read", "{}"), step("b", "read", "{}")], |policy| policy.limits.step_ms = None);
    play.now_ms += 4_000;
    play.answer_tool("a/call/1", 200, "1");
    play.now_ms += 60_000;
    play.happen(EventKind::Resumed);
    play.now_ms += 1_000;
    play.answer_tool("b/call/1", 200, "1");
    assert_eq!(play.run.spent().active_ms, 5_000);
}

#[test]
fn the_deadline_of_a_question_is_extended_by_the_downtime() {
    let mut play = with(vec![step("a", "read", "{}")], |_| ());
    play.answer_tool("a/call/1", 400, "{}");
    let rate_limit = |play: &mut Play, id: &str| {
        let failure =
            reknit_model_api::ModelFailure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(2_000);
        play.happen(EventKind::ModelFailed { effect: effect_id(id), failure });
    };
    rate_limit(&mut play, "a/feedback/1");
    rate_limit(&mut play, "a/feedback/2");
    let wait = play.due();
    play.now_ms += 300_000;
    play.happen(EventKind::Resumed);
    play.happen(EventKind::Woke { effect: effect_id(&wait[0]) });
    assert!(model_timeout_ms(&play).is_some_and(|ms| ms > 5_000), "{:?} {:?}", play.due(), model_timeout_ms(&play));
}
