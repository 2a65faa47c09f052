//! How long a step may take, and how long a run.

use reknit_dialogue::ErrorClass;
use reknit_engine::{Decision, Effect, Outcome, Policy, Status, What};
use reknit_mend::Fate;
use reknit_protocol::{Delivery, TransportFailure, TransportKind};
use reknit_protocol::{Step, Value};

use crate::world::{Play, plan, policy, question, started, step};

/// A step of its own, and one that needs it.
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
    let report = answer.steps.iter().find(|report| report.step.as_str() == step).expect("the step is in it");
    match &report.outcome {
        Outcome::Failed { reason, .. } | Outcome::Skipped { reason } => reason.clone(),
        Outcome::Done(value) => format!("done: {value}"),
    }
}

fn timed_out(effect: &str) -> What {
    let failure = TransportFailure {
        kind: TransportKind::TimedOut,
        delivery: Delivery::Possible,
        message: "no answer".to_owned(),
    };
    What::ToolFailed { effect: effect.parse().unwrap(), failure }
}

#[test]
fn a_step_that_is_past_its_time_fails_its_dependants_are_skipped_and_others_go_on() {
    let mut play = with(steps(), |_| ());
    assert_eq!(play.call("a/call/1").timeout_ms, 10_000);
    play.now_ms += 10_000;
    play.happen(timed_out("a/call/1"));
    play.answer_tool("c/call/1", 200, "1");
    assert!(reason(&play, "a").ends_with("; the limit of 10000 ms for the step is reached"), "{}", reason(&play, "a"));
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
    assert_eq!(play.call("b/call/1").timeout_ms, 10_000, "the time of a step begins with its inputs");
}

#[test]
fn no_call_may_take_longer_than_what_is_left_to_its_step_and_to_the_run() {
    let mut play = with(steps(), |policy| policy.limits.active_ms = 12_000);
    play.now_ms += 4_000;
    play.answer_tool("a/call/1", 503, "{}");
    play.wake("a/retry-wait/1");
    let waited = play.now_ms - 1_000 - 4_000;
    assert_eq!(i64::try_from(play.call("a/call/2").timeout_ms), Ok(10_000 - 4_000 - waited));
    play.answer_tool("a/call/2", 200, "1");
    assert_eq!(i64::try_from(play.call("b/call/1").timeout_ms), Ok(12_000 - 4_000 - waited));
}

#[test]
fn nobody_waits_for_what_would_come_too_late() {
    let mut play = with(steps(), |policy| policy.resend.base_ms = 15_000);
    play.answer_tool("a/call/1", 503, "{}");
    play.happen(What::GateClosed { effect: "c/call/1".parse().unwrap(), until_ms: play.now_ms + 11_000 });
    for step in ["a", "c"] {
        let words = "what comes next would be behind its limit of 10000 ms";
        assert!(reason(&play, step).ends_with(words), "{}", reason(&play, step));
    }
}

/// The longest that an answer may take.
fn max_ms(play: &Play) -> Option<u64> {
    play.run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => ask.request.max_ms,
        _ => None,
    })
}

#[test]
fn a_model_that_is_asked_about_a_step_has_no_more_time_than_the_step() {
    let mut play = with(vec![step("a", "read", "{}")], |_| ());
    play.now_ms += 3_000;
    play.answer_tool("a/call/1", 422, r#"{"message": "x must be a colour"}"#);
    assert_eq!(max_ms(&play), Some(7_000));
    play.now_ms += 5_000;
    play.fail_model("a/feedback/1", ErrorClass::NetworkError);
    assert_eq!((play.due(), max_ms(&play)), (vec!["a/feedback/2".to_owned()], Some(2_000)));
    play.now_ms += 2_000;
    play.fail_model("a/feedback/2", ErrorClass::Timeout);
    assert!(reason(&play, "a").ends_with("; the limit of 10000 ms for the step is reached"), "{}", reason(&play, "a"));
    assert_eq!(play.run.spent().model_calls, 2);
}

#[test]
fn the_time_of_a_person_and_of_no_process_at_all_is_not_the_steps() {
    let mut play = with(vec![step("a", "unsafe", "{}")], |_| ());
    play.now_ms += 1_000;
    play.happen(What::Interrupted { effect: "a/call/1".parse().unwrap() });
    let ask = question(&play);
    play.now_ms += 3_600_000;
    play.happen(What::Resumed);
    play.now_ms += 3_600_000;
    play.happen(What::PersonDecided { effect: ask.id, hash: ask.hash, decision: Decision::Approve });
    assert_eq!(play.call("a/call/2").timeout_ms, 9_000);
    play.now_ms += 60_000;
    play.happen(What::Resumed);
    play.now_ms += 2_000;
    play.happen(What::Interrupted { effect: "a/call/2".parse().unwrap() });
    let ask = question(&play);
    play.happen(What::PersonDecided { effect: ask.id, hash: ask.hash, decision: Decision::Approve });
    assert_eq!(play.call("a/call/3").timeout_ms, 7_000);
}

#[test]
fn a_plan_may_say_how_long_a_step_may_take() {
    let mut long = step("a", "read", "{}");
    long.metadata.insert("limit_ms", Value::from(20_000_u64));
    let play = with(vec![long.clone(), step("b", "read", "{}")], |policy| policy.limits.call_ms = 60_000);
    assert_eq!((play.call("a/call/1").timeout_ms, play.call("b/call/1").timeout_ms), (20_000, 10_000));
    long.metadata.insert("limit_ms", Value::from("soon"));
    let error = Step::from_value(&long.to_value()).expect_err("that is no time").to_string();
    assert!(error.contains("limit_ms") && error.contains("a whole number of milliseconds"), "{error}");
}

#[test]
fn a_call_that_may_have_happened_when_its_time_was_over_is_told_so() {
    let mut play = with(vec![step("a", "keyed", "{}")], |_| ());
    play.now_ms += 10_000;
    play.happen(timed_out("a/call/1"));
    let answer = play.run.answer().expect("the run has ended");
    assert!(matches!(answer.steps[0].outcome, Outcome::Failed { fate: Fate::Unknown, .. }), "{answer:?}");
}

#[test]
fn the_time_before_a_crash_counts_and_the_time_until_somebody_goes_on_does_not() {
    let mut play = with(vec![step("a", "read", "{}"), step("b", "read", "{}")], |policy| policy.limits.step_ms = None);
    play.now_ms += 4_000;
    play.answer_tool("a/call/1", 200, "1");
    play.now_ms += 60_000;
    play.happen(What::Resumed);
    play.now_ms += 1_000;
    play.answer_tool("b/call/1", 200, "1");
    assert_eq!(play.run.spent().active_ms, 5_000);
}

#[test]
fn a_question_gets_back_the_time_in_which_nobody_drove_the_run() {
    let mut play = with(vec![step("a", "read", "{}")], |_| ());
    play.answer_tool("a/call/1", 400, "{}");
    let limited = |play: &mut Play, id: &str| {
        let failure = reknit_dialogue::Failure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(2_000);
        play.happen(What::ModelFailed { effect: id.parse().unwrap(), failure });
    };
    limited(&mut play, "a/feedback/1");
    limited(&mut play, "a/feedback/2");
    let wait = play.due();
    play.now_ms += 300_000;
    play.happen(What::Resumed);
    play.happen(What::Woke { effect: wait[0].as_str().parse().unwrap() });
    assert!(max_ms(&play).is_some_and(|ms| ms > 5_000), "{:?} {:?}", play.due(), max_ms(&play));
}
