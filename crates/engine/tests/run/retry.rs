//! A run that ended without all of its results is retried.

use reknit_engine::{Decision, EventKind, Outcome, Policy, Question, Status};

use crate::failed_calls::BAD_AMOUNT;
use crate::world::{Play, plan, policy, question, started, step, timed_out};

/// The advice of a model, with a value of the request.
const HUNDRED: &str = r#"{"should_retry": true, "suggested_changes": {"amount": 100}}"#;

fn without_resends() -> Policy {
    let mut policy = policy();
    policy.resend.times = 0;
    policy
}

fn play(class: &str) -> Play {
    let steps = vec![
        step("first", "read", "{}"),
        step("act", class, r#"{"id": "{{first.id}}"}"#),
        step("after", "read", r#"{"id": "{{act.id}}"}"#),
    ];
    let mut play = Play::begin(started(Some(plan(steps)), without_resends()));
    play.answer_tool("first/call/1", 200, r#"{"id": 7}"#);
    play
}

fn status(play: &Play) -> Status {
    play.run.answer().expect("the run has ended").status
}

#[test]
fn done_steps_stay_done_and_failed_and_skipped_ones_are_tried_again() {
    let mut play = play("idempotent");
    play.answer_tool("act/call/1", 503, r#"{"error": "down"}"#);
    assert_eq!(status(&play), Status::Partial);
    play.happen(EventKind::Retried);
    assert_eq!(play.due(), ["act/call/2"]);
    assert_eq!(play.run.retries(), 1);
    play.answer_tool("act/call/2", 200, r#"{"id": 8}"#);
    play.answer_tool("after/call/1", 200, "{}");
    assert_eq!(status(&play), Status::Complete);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.spent.tool_calls, answer.steps[0].calls, answer.steps[1].calls), (4, 1, 2));
}

#[test]
fn the_budgets_of_the_run_and_of_its_steps_count_anew() {
    let mut policy = policy();
    (policy.resend.times, policy.limits.tool_calls) = (1, 2);
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
    for (round, call) in [(1, 1), (2, 3)] {
        play.answer_tool(&format!("s/call/{call}"), 503, "{}");
        play.wake(&format!("s/retry-wait/{round}"));
        play.answer_tool(&format!("s/call/{}", call + 1), 503, "{}");
        assert_eq!(status(&play), Status::Failed, "round {round}");
        if round == 1 {
            play.happen(EventKind::Retried);
        }
    }
    assert_eq!(play.run.spent().tool_calls, 4);
}

#[test]
fn an_unsafe_call_that_may_have_happened_is_sent_again_only_after_approval_and_under_the_same_key() {
    let mut play = play("unsafe");
    let key = play.call("act/call/1").idempotency_key;
    play.happen(timed_out("act/call/1"));
    let ask = question(&play);
    let decide = |play: &mut Play, decision| {
        let ask = question(play);
        let by = reknit_engine::DecidedBy::Person;
        play.happen(EventKind::PersonDecided { effect: ask.id, hash: ask.hash, decision, by });
    };
    decide(&mut play, Decision::Deny { reason: None });
    assert_eq!(status(&play), Status::Partial);
    play.happen(EventKind::Retried);
    let asked_again = question(&play);
    assert!(matches!(asked_again.question, Question::SendAgain { .. }), "{asked_again:?}");
    assert_ne!(asked_again.id, ask.id);
    assert!(!play.due().iter().any(|due| due.starts_with("act/call")), "{:?}", play.due());
    decide(&mut play, Decision::Approve);
    assert_eq!(play.call("act/call/2").idempotency_key, key);
}

#[test]
fn a_keyed_call_that_may_have_happened_keeps_its_key_and_its_parameters() {
    let mut play = play("keyed");
    let before = play.call("act/call/1");
    play.happen(timed_out("act/call/1"));
    assert_eq!(status(&play), Status::Partial);
    play.happen(EventKind::Retried);
    let again = play.call("act/call/2");
    assert_eq!((again.idempotency_key, again.parameters), (before.idempotency_key, before.parameters));
}

#[test]
fn the_same_rejected_call_keeps_its_key_and_another_one_gets_a_new_key() {
    let mut policy = without_resends();
    policy.mending.context = 0;
    policy.mending.feedback = 1;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "keyed", r#"{"amount": 1, "to": "x"}"#)])), policy));
    let first = play.call("s/call/1");
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    play.answer_model("s/feedback/1", HUNDRED);
    let corrected = play.call("s/call/2");
    assert_ne!(corrected.idempotency_key, first.idempotency_key);
    play.answer_tool("s/call/2", 403, r#"{"error": "no"}"#);
    assert_eq!(status(&play), Status::Failed);
    play.happen(EventKind::Retried);
    let again = play.call("s/call/3");
    assert_eq!(again.parameters, first.parameters, "the step starts again with the parameters of the plan");
    assert!(![&first, &corrected].iter().any(|call| call.idempotency_key == again.idempotency_key), "{again:?}");
    play.answer_tool("s/call/3", 403, r#"{"error": "no"}"#);
    play.happen(EventKind::Retried);
    assert_eq!(play.call("s/call/4").idempotency_key, again.idempotency_key);
}

#[test]
fn the_deadline_of_a_run_starts_anew() {
    let mut policy = without_resends();
    policy.limits.active_ms = Some(10_000);
    let mut play = Play::begin(started(Some(plan(vec![step("s", "idempotent", "{}")])), policy));
    play.now_ms += 9_000;
    play.answer_tool("s/call/1", 503, "{}");
    play.now_ms += 50_000;
    play.happen(EventKind::Retried);
    let deadline = play.run.pending().into_iter().find_map(|effect| match effect {
        reknit_engine::Effect::Sleep { until_ms, .. } => Some(until_ms),
        _ => None,
    });
    assert_eq!(deadline, Some(play.now_ms + 10_000));
}

#[test]
fn a_run_that_no_model_planned_is_planned_again() {
    let mut policy = policy();
    policy.planning.retries = 0;
    let mut play = Play::begin(started(None, policy));
    play.answer_model("plan/ask/1", "I cannot");
    assert!(matches!(status(&play), Status::Failed), "{:?}", play.run.answer());
    play.happen(EventKind::Retried);
    assert_eq!(play.due(), ["plan/ask/2"]);
}

#[test]
fn a_complete_or_cancelled_run_is_not_retried() {
    let mut complete = Play::of_steps(vec![step("s", "read", "{}")]);
    complete.answer_tool("s/call/1", 200, "{}");
    let mut cancelled = Play::of_steps(vec![step("s", "idempotent", "{}")]);
    cancelled.happen(EventKind::Cancelled);
    cancelled.answer_tool("s/call/1", 503, "{}");
    for mut play in [complete, cancelled] {
        let before = play.run.answer().expect("the run has ended").clone();
        assert!(!play.run.can_be_retried());
        play.happen(EventKind::Retried);
        assert_eq!((play.run.answer(), play.run.retries()), (Some(&before), 0));
    }
}

#[test]
fn a_denied_correction_of_an_unsafe_call_is_not_sent_by_a_retry() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", r#"{"amount": 1}"#)]);
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    play.answer_model("s/feedback/1", HUNDRED);
    let ask = question(&play);
    assert!(matches!(ask.question, Question::SendCorrected { .. }), "{ask:?}");
    let (decision, by) = (Decision::Deny { reason: None }, reknit_engine::DecidedBy::Person);
    play.happen(EventKind::PersonDecided { effect: ask.id, hash: ask.hash, decision, by });
    assert!(matches!(play.run.answer().expect("it has ended").steps[0].outcome, Outcome::Failed { .. }));
    play.happen(EventKind::Retried);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"amount":1}"#);
}
