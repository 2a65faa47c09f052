//! Services and models that rest, for all who want them.

use reknit_dialogue::{ErrorClass, OnAuthError, Rules, Usage};
use reknit_engine::{Effect, Outcome, Policy, Status, StepState, Synthesis, What};
use reknit_mend::Fate;

use crate::world::{Play, model_failure, policy, started, step};

fn close(play: &mut Play, effect: &str, for_ms: i64) {
    let until_ms = play.now_ms + for_ms;
    play.happen(What::GateClosed { effect: effect.parse().unwrap(), until_ms });
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
fn a_call_whose_service_rests_is_made_when_it_takes_calls_again_and_costs_nothing_until_then() {
    let mut play = one_step();
    close(&mut play, "pay/call/1", 5_000);
    assert_eq!(play.run.steps()[0].state, StepState::TurnedAway { until_ms: 6_000 });
    assert_eq!((play.run.steps()[0].calls, play.run.spent().tool_calls), (0, 0));
    assert_eq!(play.due(), ["pay/breaker-wait/1"]);
    play.wake("pay/breaker-wait/1");
    assert_eq!(play.now_ms, 6_000);
    play.answer_tool("pay/call/2", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.steps[0].calls, answer.spent.tool_calls), (Status::Complete, 1, 1));
}

#[test]
fn the_key_of_a_call_is_the_same_before_and_behind_the_rest() {
    let mut play = one_step();
    let before = play.call("pay/call/1").idempotency_key;
    close(&mut play, "pay/call/1", 5_000);
    play.wake("pay/breaker-wait/1");
    assert_eq!(play.call("pay/call/2").idempotency_key, before);
}

#[test]
fn a_rest_beyond_the_ceiling_fails_the_step_which_was_never_sent() {
    let mut play = one_step();
    close(&mut play, "pay/call/1", 120_001);
    let answer = play.run.answer().expect("the run has ended");
    let reason = "not sent: `t` is resting; it would be 2 min until then; the longest allowed wait is 2 min (`ceiling` in `[resend]`)";
    assert_eq!(answer.steps[0].outcome, Outcome::Failed { reason: reason.to_owned(), fate: Fate::NotSent });
    assert_eq!(answer.spent.tool_calls, 0);
}

#[test]
fn a_service_that_rests_again_and_again_is_not_waited_for_for_ever() {
    let mut play = one_step();
    for turn in 1..=5 {
        close(&mut play, &format!("pay/call/{turn}"), 1);
        play.wake(&format!("pay/breaker-wait/{turn}"));
    }
    close(&mut play, "pay/call/6", 1);
    let answer = play.run.answer().expect("the run has ended");
    let Outcome::Failed { reason, fate } = &answer.steps[0].outcome else { panic!("{:?}", answer.steps[0]) };
    assert_eq!((reason.as_str(), *fate), ("not sent: `t` is resting; that was so 5 times before", Fate::NotSent));
}

#[test]
fn what_was_only_turned_away_when_the_run_is_cancelled_was_never_begun() {
    let mut play = one_step();
    close(&mut play, "pay/call/1", 5_000);
    play.happen(What::Cancelled);
    let answer = play.run.answer().expect("the run has ended");
    assert!(matches!(answer.steps[0].outcome, Outcome::Skipped { .. }), "{:?}", answer.steps[0]);
}

#[test]
fn a_call_that_is_to_stop_and_finds_its_service_resting_was_never_sent() {
    let mut play = one_step();
    play.happen(What::Cancelled);
    close(&mut play, "pay/call/1", 5_000);
    let answer = play.run.answer().expect("the run has ended");
    let reason = "not sent: `t` is resting; the run was cancelled".to_owned();
    assert_eq!(answer.steps[0].outcome, Outcome::Failed { reason, fate: Fate::NotSent });
    assert_eq!(answer.status, Status::Cancelled);
}

#[test]
fn while_one_service_rests_a_place_is_free_for_other_steps() {
    let mut rules = policy();
    rules.limits.calls_at_once = 1;
    let steps = vec![step("a", "read", "{}"), step("b", "keyed", "{}")];
    let mut play = Play::begin(started(Some(crate::world::plan(steps)), rules));
    assert_eq!(play.due(), ["a/call/1"]);
    close(&mut play, "a/call/1", 5_000);
    assert_eq!(play.due(), ["a/breaker-wait/1", "b/call/1"]);
}

#[test]
fn a_model_that_rests_is_passed_over_at_no_cost() {
    let mut play = Play::begin(started(None, policy()));
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/1 -> a"));
    close(&mut play, "plan/ask/1", 5_000);
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/2 -> b"));
    assert_eq!(play.run.spent().model_calls, 1);
    close(&mut play, "plan/ask/2", 3_000);
    assert_eq!((play.due(), play.run.spent().model_calls), (vec!["plan/ask-wait/2".to_owned()], 0));
    assert_eq!(play.run.model_wait_ms(), Some(6_000));
    play.wake("plan/ask-wait/2");
    assert_eq!((asked(&play).as_deref(), play.run.spent().model_calls), (Some("plan/ask/3 -> a"), 1));
}

#[test]
fn when_every_model_rests_for_too_long_the_run_says_so() {
    let rules = Policy { rotation: Rules { attempts: 1, ..Rules::default() }, ..policy() };
    let mut play = Play::begin(started(None, rules));
    for (ask, wait) in [(1, None), (2, Some("plan/ask-wait/2")), (3, None), (4, None)] {
        if play.run.answer().is_none() {
            close(&mut play, &format!("plan/ask/{ask}"), 5_000);
            if let Some(wait) = wait {
                play.wake(wait);
            }
        }
    }
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.text, "no model gave a plan: no model was asked; every model is resting");
    assert_eq!(answer.spent.model_calls, 0);
}

#[test]
fn every_question_of_a_run_knows_of_rests() {
    let rules = Policy { synthesis: Synthesis::Model, ..policy() };
    let steps = vec![step("convert", "convert", r#"{"amount": 0}"#)];
    let mut play = Play::begin(started(Some(crate::world::plan(steps)), rules));
    play.answer_tool("convert/call/1", 400, "{}");
    close(&mut play, "convert/feedback/1", 5_000);
    assert_eq!(asked(&play).as_deref(), Some("convert/feedback/2 -> b"));
    play.answer_model("convert/feedback/2", r#"{"should_retry": true, "suggested_changes": {"amount": 1}}"#);
    play.answer_tool("convert/call/2", 200, "{}");
    close(&mut play, "answer/ask/1", 5_000);
    assert_eq!(asked(&play).as_deref(), Some("answer/ask/2 -> b"));
    play.answer_model("answer/ask/2", "done");
    assert_eq!(play.run.spent().model_calls, 2);
}

#[test]
fn a_model_that_refused_its_key_is_not_asked_by_the_next_question_either() {
    let rotation = Rules { on_auth_error: OnAuthError::Skip, ..Rules::default() };
    let mut play = Play::begin(started(None, Policy { rotation, ..policy() }));
    play.fail_model("plan/ask/1", ErrorClass::AuthError);
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/2 -> b"));
    play.answer_model("plan/ask/2", "no plan at all");
    assert_eq!(asked(&play).as_deref(), Some("plan/ask/3 -> b"));
}

#[test]
fn nobody_waits_for_a_model_longer_than_the_run_may_last() {
    for (limit_ms, goes_on) in [(1_999, false), (2_001, true)] {
        let mut rules = policy();
        rules.limits.active_ms = limit_ms;
        let mut play = Play::begin(started(None, rules));
        play.fail_model("plan/ask/1", ErrorClass::RateLimit);
        play.fail_model("plan/ask/2", ErrorClass::RateLimit);
        assert_eq!(play.due() == ["plan/ask-wait/2"], goes_on, "{limit_ms} ms");
        if let Some(answer) = play.run.answer() {
            let reason =
                "no model gave a plan: rate limited: it failed; the next attempt would begin after the deadline";
            assert_eq!(answer.text, reason);
        }
    }
}

#[test]
fn the_time_in_which_no_process_drove_the_run_does_not_bring_its_end_nearer() {
    let mut play = Play::begin(started(None, policy()));
    play.fail_model("plan/ask/1", ErrorClass::RateLimit);
    play.now_ms += 3_600_000;
    play.happen(What::Resumed);
    play.fail_model("plan/ask/2", ErrorClass::RateLimit);
    assert_eq!(play.due(), ["plan/ask-wait/2"]);
}

#[test]
fn what_broke_off_is_counted_apart_from_what_was_served_and_only_once() {
    let mut play = Play::begin(started(None, policy()));
    let failure = model_failure(ErrorClass::NetworkError).with_usage(Usage::reported(10, 40));
    let failed = What::ModelFailed { effect: "plan/ask/1".parse().unwrap(), failure };
    play.happen(failed.clone());
    play.happen(failed);
    play.answer_model("plan/ask/2", r#"{"steps": []}"#);
    let spent = play.run.spent();
    assert_eq!((spent.wasted_tokens, spent.input_tokens, spent.output_tokens), (50, 10, 5));
}
