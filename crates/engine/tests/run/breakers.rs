//! Open circuit breakers of tools and models.

use reknit_engine::{Effect, EventKind, Outcome, Policy, Status, StepState, Synthesis};
use reknit_mend::Fate;
use reknit_model_api::{ErrorClass, OnAuthError, RotationRules, Usage};

use crate::world::{Play, effect_id, model_failure, policy, started, step};

fn open_breaker(play: &mut Play, effect: &str, for_ms: i64) {
    let until_ms = play.now_ms + for_ms;
    play.happen(EventKind::BreakerOpen {
        effect: effect_id(effect),
        until_ms,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
}

fn asked(play: &Play) -> Option<String> {
    play.run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => Some(format!("{} -> {}", ask.id, ask.target)),
        _ => None,
    })
}

fn one_step() -> Play {
    Play::of_steps(vec![step("pay", "unsafe", "{}")])
}

#[test]
fn a_call_waits_for_an_open_breaker_and_counts_only_when_it_is_sent() {
    let mut play = one_step();
    open_breaker(&mut play, "pay/call/1", 5_000);
    assert_eq!(play.run.steps()[0].state, StepState::BreakerOpen { until_ms: 6_000 });
    assert_eq!((play.run.steps()[0].calls, play.run.spent().tool_calls), (0, 0));
    assert_eq!(play.due(), ["pay/breaker-wait/1"]);
    play.wake("pay/breaker-wait/1");
    assert_eq!(play.now_ms, 6_000);
    play.answer_tool("pay/call/2", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.steps[0].calls, answer.spent.tool_calls), (Status::Complete, 1, 1));
}

#[test]
fn a_call_keeps_its_key_across_a_breaker_wait() {
    let mut play = one_step();
    let before = play.call("pay/call/1").idempotency_key;
    open_breaker(&mut play, "pay/call/1", 5_000);
    play.wake("pay/breaker-wait/1");
    assert_eq!(play.call("pay/call/2").idempotency_key, before);
}

#[test]
fn a_breaker_that_stays_open_beyond_the_ceiling_fails_the_step_unsent() {
    let mut play = one_step();
    open_breaker(&mut play, "pay/call/1", 120_001);
    let answer = play.run.answer().expect("the run has ended");
    let reason = "not sent: the circuit breaker of `t` is open; it stays open for 2 min; the longest allowed wait is 2 min (`longest-retry-after` in `[resend]`)";
    assert_eq!(answer.steps[0].outcome, Outcome::Failed { reason: reason.to_owned(), fate: Fate::NotSent });
    assert_eq!(answer.spent.tool_calls, 0);
}

#[test]
fn a_breaker_that_stays_open_until_the_ceiling_is_waited_for() {
    let mut play = one_step();
    open_breaker(&mut play, "pay/call/1", 120_000);
    assert_eq!(play.due(), ["pay/breaker-wait/1"]);
}

#[test]
fn breaker_waits_of_one_call_are_limited() {
    let mut play = one_step();
    for attempt in 1..=5 {
        open_breaker(&mut play, &format!("pay/call/{attempt}"), 1);
        play.wake(&format!("pay/breaker-wait/{attempt}"));
    }
    open_breaker(&mut play, "pay/call/6", 1);
    let answer = play.run.answer().expect("the run has ended");
    let Outcome::Failed { reason, fate } = &answer.steps[0].outcome else { panic!("{:?}", answer.steps[0]) };
    assert_eq!(
        (reason.as_str(), *fate),
        ("not sent: the circuit breaker of `t` is open; it was open 5 times before", Fate::NotSent)
    );
}

#[test]
fn a_step_that_waits_for_a_breaker_is_skipped_on_cancellation() {
    let mut play = one_step();
    open_breaker(&mut play, "pay/call/1", 5_000);
    play.happen(EventKind::Cancelled);
    let answer = play.run.answer().expect("the run has ended");
    assert!(matches!(answer.steps[0].outcome, Outcome::Skipped { .. }), "{:?}", answer.steps[0]);
}

#[test]
fn a_cancelled_call_that_meets_an_open_breaker_was_not_sent() {
    let mut play = one_step();
    play.happen(EventKind::Cancelled);
    open_breaker(&mut play, "pay/call/1", 5_000);
    let answer = play.run.answer().expect("the run has ended");
    let reason = "not sent: the circuit breaker of `t` is open; the run was cancelled".to_owned();
    assert_eq!(answer.steps[0].outcome, Outcome::Failed { reason, fate: Fate::NotSent });
    assert_eq!(answer.status, Status::Cancelled);
}

#[test]
fn a_step_that_waits_for_a_breaker_frees_its_concurrency_slot() {
    let mut policy = policy();
    policy.limits.calls_at_once = 1;
    let steps = vec![step("a", "read", "{}"), step("b", "keyed", "{}")];
    let mut play = Play::begin(started(Some(crate::world::plan(steps)), policy));
    assert_eq!(play.due(), ["a/call/1"]);
    open_breaker(&mut play, "a/call/1", 5_000);
    assert_eq!(play.due(), ["a/breaker-wait/1", "b/call/1"]);
}

#[test]
fn a_model_with_an_open_breaker_is_skipped_and_not_counted() {
    let mut play = Play::begin(started(None, policy()));
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/1 -> a"));
    open_breaker(&mut play, "plan/ask/1", 5_000);
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/2 -> b"));
    assert_eq!(play.run.spent().model_calls, 1);
    open_breaker(&mut play, "plan/ask/2", 3_000);
    assert_eq!((play.due(), play.run.spent().model_calls), (vec!["plan/ask-wait/2".to_owned()], 0));
    assert_eq!(play.run.model_wait_ms(), Some(6_000));
    play.wake("plan/ask-wait/2");
    assert_eq!((asked(&play).as_deref(), play.run.spent().model_calls), (Some("plan/ask/3 -> a"), 1));
}

#[test]
fn a_run_fails_with_a_reason_if_every_models_breaker_is_open() {
    let policy = Policy { rotation: RotationRules { max_attempts: 1, ..RotationRules::default() }, ..policy() };
    let mut play = Play::begin(started(None, policy));
    for (ask, wait) in [(1, None), (2, Some("plan/ask-wait/2")), (3, None), (4, None)] {
        if play.run.answer().is_none() {
            open_breaker(&mut play, &format!("plan/ask/{ask}"), 5_000);
            if let Some(wait) = wait {
                play.wake(wait);
            }
        }
    }
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.text, "no model wrote a plan: no model was asked; the circuit breaker of every model is open");
    assert_eq!(answer.spent.model_calls, 0);
}

#[test]
fn every_kind_of_question_respects_breakers() {
    let policy = Policy { synthesis: Synthesis::Model, ..policy() };
    let steps = vec![step("convert", "convert", r#"{"amount": 0}"#)];
    let mut play = Play::begin(started(Some(crate::world::plan(steps)), policy));
    play.answer_tool("convert/call/1", 400, "{}");
    open_breaker(&mut play, "convert/feedback/1", 5_000);
    assert_eq!(asked(&play).as_deref(), Some("convert/feedback/2 -> b"));
    play.answer_model("convert/feedback/2", r#"{"should_retry": true, "suggested_changes": {"amount": 1}}"#);
    play.answer_tool("convert/call/2", 200, "{}");
    open_breaker(&mut play, "answer/ask/1", 5_000);
    assert_eq!(asked(&play).as_deref(), Some("answer/ask/2 -> b"));
    play.answer_model("answer/ask/2", "done");
    assert_eq!(play.run.spent().model_calls, 2);
}

#[test]
fn a_model_that_rejected_its_api_key_is_not_asked_again() {
    let rotation = RotationRules { on_auth_error: OnAuthError::Skip, ..RotationRules::default() };
    let mut play = Play::begin(started(None, Policy { rotation, ..policy() }));
    play.fail_model("plan/ask/1", ErrorClass::AuthError);
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/2 -> b"));
    play.answer_model("plan/ask/2", "no plan at all");
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/3 -> b"));
}

#[test]
fn a_wait_for_a_model_does_not_exceed_the_deadline_of_the_run() {
    for (limit_ms, waits) in [(1_999, false), (2_001, true)] {
        let mut policy = policy();
        policy.limits.active_ms = Some(limit_ms);
        let mut play = Play::begin(started(None, policy));
        play.fail_model("plan/ask/1", ErrorClass::RateLimit);
        play.fail_model("plan/ask/2", ErrorClass::RateLimit);
        assert_eq!(play.due() == ["plan/ask-wait/2"], waits, "{limit_ms} ms");
        if let Some(answer) = play.run.answer() {
            let reason =
                "no model wrote a plan: rate limited: it failed; the next attempt would begin after the deadline";
            assert_eq!(answer.text, reason);
        }
    }
}

#[test]
fn downtime_does_not_shorten_the_time_of_a_question() {
    let mut play = Play::begin(started(None, policy()));
    play.fail_model("plan/ask/1", ErrorClass::RateLimit);
    play.now_ms += 3_600_000;
    play.happen(EventKind::Resumed);
    play.fail_model("plan/ask/2", ErrorClass::RateLimit);
    assert_eq!(play.due(), ["plan/ask-wait/2"]);
}

#[test]
fn tokens_of_a_failed_question_are_counted_once_and_separately() {
    let mut play = Play::begin(started(None, policy()));
    let failure = model_failure(ErrorClass::NetworkError).with_usage(Usage::reported(10, 40));
    let failed = EventKind::ModelFailed { effect: effect_id("plan/ask/1"), failure };
    play.happen(failed.clone());
    play.happen(failed);
    play.answer_model("plan/ask/2", r#"{"steps": []}"#);
    let spent = play.run.spent();
    assert_eq!((spent.wasted_tokens, spent.input_tokens, spent.output_tokens), (50, 10, 5));
}
