//! What is done about calls that fail.

use reknit_bind::Provenance;
use reknit_dialogue::ErrorClass;
use reknit_engine::{Decision, Outcome, Started, Status, What};
use reknit_mend::{IndependentSteps, Rung};

use crate::world::{Play, plan, policy, question, started, step};

pub(crate) const BAD_AMOUNT: &str = r#"{"success": false, "error": {"code": "INVALID_FORMAT", "category": "INPUT_ERROR",
    "message": "amount must be greater than 0", "retryable": true, "details": {"hint": "send a positive number"}}}"#;

pub(crate) fn quote_and_convert() -> Play {
    let mut play = Play::of_steps(vec![
        step("quote", "read", r#"{"symbol": "TSLA"}"#),
        step("convert", "convert", r#"{"amount": 0, "to": "KRW"}"#).after("quote"),
    ]);
    play.answer_tool("quote/call/1", 200, r#"{"success": true, "data": {"current_price": 468.285}}"#);
    play.answer_tool("convert/call/1", 400, BAD_AMOUNT);
    play
}

#[test]
fn an_amount_that_only_the_results_give_is_computed_from_them() {
    let mut play = quote_and_convert();
    let prompt = play.prompt("convert/feedback/1");
    for shown in
        ["capability: convert", "400", "amount must be greater than 0", "send a positive number", r#""amount": 0"#]
    {
        assert!(prompt.contains(shown), "{shown} is not in {prompt}");
    }
    assert!(!prompt.contains("468.285"), "the error alone is shown first");
    play.answer_model("convert/feedback/1", r#"{"should_retry": false, "reason": "the amount is not known here"}"#);
    let prompt = play.prompt("convert/context/1");
    for shown in ["sell 100 shares", "do convert", "468.285", "amount must be greater than 0"] {
        assert!(prompt.contains(shown), "{shown} is not in {prompt}");
    }
    play.answer_model(
        "convert/context/1",
        r#"{"should_retry": true, "analysis": "100 shares at that price", "corrected_parameters": {"amount": "{{100 * quote.current_price}}"}}"#,
    );
    let call = play.call("convert/call/2");
    assert_eq!(call.parameters.to_string(), r#"{"amount":46828.5,"to":"KRW"}"#);
    play.answer_tool("convert/call/2", 200, r#"{"success": true, "data": {"converted": 1}}"#);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Complete);
    let rungs: Vec<Rung> = answer.steps[1].mends.iter().map(|mend| mend.rung).collect();
    assert_eq!(rungs, [Rung::Feedback, Rung::Context]);
}

#[test]
fn feedback_that_names_the_change_is_enough() {
    let mut play = quote_and_convert();
    play.answer_model(
        "convert/feedback/1",
        r#"{"should_retry": true, "reason": "x", "suggested_changes": {"amount": "468.2850"}}"#,
    );
    assert_eq!(play.call("convert/call/2").parameters.to_string(), r#"{"amount":468.2850,"to":"KRW"}"#);
}

#[test]
fn a_correction_that_was_tried_or_does_not_fit_is_refused() {
    for bad in [r#"{"amount": 0}"#, r#"{"amount": "many"}"#, r#"{"sum": 5}"#] {
        let mut play = quote_and_convert();
        play.answer_model("convert/feedback/1", &format!(r#"{{"should_retry": true, "suggested_changes": {bad}}}"#));
        assert_eq!(play.due(), ["convert/context/1"], "case: {bad}");
    }
}

#[test]
fn after_every_rung_is_spent_the_step_fails_with_its_reasons() {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 1}}"#);
    play.answer_tool("convert/call/2", 400, BAD_AMOUNT);
    play.answer_model("convert/feedback/2", "I do not know.");
    play.answer_model("convert/context/1", r#"{"should_retry": true, "corrected_parameters": {"amount": 2}}"#);
    play.answer_tool("convert/call/3", 400, BAD_AMOUNT);
    play.answer_model("convert/context/2", r#"{"should_retry": false, "analysis": "nothing gives the amount"}"#);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Partial);
    let Outcome::Failed { reason, .. } = &answer.steps[1].outcome else { panic!("{answer:?}") };
    assert!(
        reason.contains("amount must be greater than 0") && reason.contains("nothing gives the amount"),
        "{reason}"
    );
}

#[test]
fn who_is_not_let_in_never_causes_a_question() {
    for (status, body) in [
        (401, "{}"),
        (403, "{}"),
        (405, "{}"),
        (400, r#"{"success": false, "error": {"code": "API_KEY_INVALID", "message": "no", "category": "AUTH_ERROR"}}"#),
        (200, r#"{"success": false, "error": {"code": "API_KEY_INVALID", "message": "no", "category": "AUTH_ERROR"}}"#),
        (300, ""),
        (301, ""),
        (302, ""),
        (304, ""),
        (308, "{}"),
    ] {
        let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
        play.answer_tool("s/call/1", status, body);
        let answer = play.run.answer().unwrap_or_else(|| panic!("{status} is the end, not {:?}", play.due()));
        assert_eq!((answer.status, answer.spent.model_calls), (Status::Failed, 0), "case: {status}");
    }
}

#[test]
fn a_tool_that_says_no_other_try_works_is_believed() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool(
        "s/call/1",
        400,
        r#"{"success": false, "error": {"code": "INVALID_REQUEST", "message": "no", "category": "INPUT_ERROR", "retryable": false}}"#,
    );
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn what_passes_is_waited_out_and_sent_again_unchanged() {
    for (status, body) in [
        (408, "{}"),
        (429, "{}"),
        (500, "{}"),
        (502, ""),
        (503, "{}"),
        (504, "{}"),
        (501, "{}"),
        (599, ""),
        (200, r#"{"success": false, "error": {"code": "X", "message": "busy", "category": "SERVICE_ERROR"}}"#),
        (200, r#"{"success": false, "error": {"code": "X", "message": "slow down", "category": "RATE_LIMIT"}}"#),
    ] {
        let mut play = Play::of_steps(vec![step("s", "read", r#"{"x": 1}"#)]);
        play.answer_tool("s/call/1", status, body);
        assert_eq!(play.due(), ["s/retry-wait/1"], "case: {status}");
        play.wake("s/retry-wait/1");
        assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"x":1}"#);
    }
}

#[test]
fn a_wait_is_never_shorter_than_the_tool_asks_for_and_grows() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    let mut waits = Vec::new();
    for (call, body) in [
        (1, "{}"),
        (2, "{}"),
        (
            3,
            r#"{"success": false, "error": {"code": "R", "message": "slow", "category": "RATE_LIMIT", "details": {"retry_after": "60s"}}}"#,
        ),
    ] {
        play.answer_tool(&format!("s/call/{call}"), 429, body);
        let before = play.now_ms;
        play.wake(&format!("s/retry-wait/{call}"));
        waits.push(play.now_ms - before);
    }
    assert!((1_000..=1_250).contains(&waits[0]), "{waits:?}");
    assert!((2_000..=2_500).contains(&waits[1]), "{waits:?}");
    assert!((60_000..=75_000).contains(&waits[2]), "{waits:?}");
    play.answer_tool("s/call/4", 429, "{}");
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed), "three resends are all");
}

#[test]
fn a_wait_that_no_tool_asked_for_is_never_longer_than_the_longest() {
    for seed in 0..50 {
        let mut patient = policy();
        patient.resend.base_ms = patient.resend.max_ms;
        let mut play = Play::begin(Started { seed, ..started(Some(plan(vec![step("s", "read", "{}")])), patient) });
        play.answer_tool("s/call/1", 503, "{}");
        let before = play.now_ms;
        play.wake("s/retry-wait/1");
        let waited = play.now_ms - before;
        assert!((24_000..=30_000).contains(&waited), "{waited}");
    }
}

#[test]
fn a_tool_that_asks_for_too_much_patience_is_given_up() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 429, r#"{"retry_after": 3600}"#);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn a_word_about_the_key_is_waited_out_and_never_mended() {
    for status in [409, 400, 422, 200] {
        let mut play = Play::of_steps(vec![step("s", "keyed", "{}")]);
        let key = play.call("s/call/1").idempotency_key;
        play.answer_tool(
            "s/call/1",
            status,
            r#"{"success": false, "error": {"code": "IDEMPOTENCY_KEY_IN_USE", "message": "still running", "category": "INPUT_ERROR"}}"#,
        );
        assert_eq!(play.due(), ["s/retry-wait/1"], "case: {status}");
        play.wake("s/retry-wait/1");
        assert_eq!(play.call("s/call/2").idempotency_key, key, "case: {status}");
    }
}

#[test]
fn a_model_that_sees_trouble_in_passing_has_the_call_sent_again() {
    for advice in [
        r#"{"should_retry": true, "reason": "busy", "suggested_changes": {}, "is_transient_error": true}"#,
        r#"{"should_retry": false, "reason": "busy", "is_transient_error": true}"#,
    ] {
        let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
        play.answer_tool("s/call/1", 422, "{}");
        play.answer_model("s/feedback/1", advice);
        assert_eq!(play.due(), ["s/retry-wait/1"], "case: {advice}");
    }
}

#[test]
fn a_step_that_needs_no_other_is_mended_by_the_request_unless_that_is_turned_off() {
    let mut strict = policy();
    strict.mending.feedback = 0;
    strict.mending.independent_steps = IndependentSteps::Left;
    let mut open = strict.clone();
    open.mending.independent_steps = IndependentSteps::Mended;
    for (policy, due) in [(strict, vec![]), (open, vec!["s/context/1".to_owned()])] {
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
        play.answer_tool("s/call/1", 400, "{}");
        assert_eq!(play.due(), due);
    }
}

#[test]
fn a_service_that_words_its_trouble_twice_alike_is_looked_at() {
    let body = r#"{"success": false, "error": {"code": "SERVICE_UNAVAILABLE", "message": "region `XX`?", "category": "SERVICE_ERROR", "retryable": false}}"#;
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 503, body);
    assert_eq!(play.due(), ["s/retry-wait/1"]);
    play.wake("s/retry-wait/1");
    play.answer_tool("s/call/2", 503, body);
    assert_eq!(play.due(), ["s/feedback/1"]);
}

#[test]
fn models_are_asked_in_turn_and_a_rung_without_an_answer_gives_way_to_the_next() {
    let mut play = quote_and_convert();
    play.fail_model("convert/feedback/1", ErrorClass::ModelError);
    play.fail_model("convert/feedback/2", ErrorClass::ModelError);
    play.fail_model("convert/feedback/3", ErrorClass::ModelError);
    assert_eq!(play.due(), ["convert/context/1"]);
}

#[test]
fn what_cannot_be_bound_is_never_sent() {
    let mut play = Play::of_steps(vec![
        step("quote", "read", "{}"),
        step("convert", "convert", r#"{"amount": "{{quote.price}}"}"#),
    ]);
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.answer_model("convert/resolution/1", "I cannot tell.");
    let prompt = play.prompt("convert/context/1");
    assert!(prompt.contains("current_price"), "{prompt}");
    play.answer_model(
        "convert/context/1",
        r#"{"should_retry": true, "corrected_parameters": {"amount": "{{quote.current_price}}"}}"#,
    );
    assert_eq!(play.call("convert/call/1").parameters.to_string(), r#"{"amount":468.285}"#);
}

#[test]
fn a_value_that_the_plan_does_not_give_is_asked_for_once_before_the_call() {
    let mut play = Play::of_steps(vec![
        step("quote", "read", "{}"),
        step("convert", "convert", r#"{"amount": "{{quote.price}}"}"#),
    ]);
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    let prompt = play.prompt("convert/resolution/1");
    for shown in ["sell 100 shares", "current_price", "`amount`"] {
        assert!(prompt.contains(shown), "{shown} is not in {prompt}");
    }
    play.answer_model("convert/resolution/1", r#"{"amount": "{{100 * quote.current_price}}"}"#);
    assert_eq!(play.call("convert/call/1").parameters.to_string(), r#"{"amount":46828.5}"#);
    let view = &play.run.steps()[1];
    assert_eq!(view.mends[0].rung, Rung::Resolution);
    assert!(matches!(view.provenance[0].1, Provenance::Resolved { .. }), "{:?}", view.provenance);
}

#[test]
fn a_value_that_a_model_wrote_itself_is_marked_and_an_unsafe_call_with_it_is_shown_first() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("pay", "unsafe", r#"{"x": "{{a.b}}"}"#)]);
    play.answer_tool("a/call/1", 200, "{}");
    play.answer_model("pay/resolution/1", r#"{"x": 100}"#);
    assert_eq!(play.run.steps()[1].provenance[0].1, Provenance::Inferred);
    let ask = question(&play);
    play.happen(What::PersonDecided { effect: ask.id.clone(), hash: ask.hash, decision: Decision::Approve });
    assert_eq!(play.call("pay/call/1").parameters.to_string(), r#"{"x":100}"#);
}

#[test]
fn numbers_in_strings_are_fitted_before_the_call_and_recorded() {
    let play = Play::of_steps(vec![step("s", "convert", r#"{"amount": "35.60"}"#)]);
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"amount":35.60}"#);
    assert_eq!(play.run.steps()[0].mends[0].rung, Rung::Schema);
}
