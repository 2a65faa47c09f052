//! Failed calls: retries, backoffs, and the rungs that mend them.

use reknit_engine::{Decision, Outcome, Started, Status};
use reknit_expressions::Provenance;
use reknit_mend::{IndependentSteps, Rung};
use reknit_model_api::ErrorClass;

use crate::world::{Play, failure_reason, plan, policy, started, step};

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
fn an_amount_is_computed_from_earlier_results_on_the_context_rung() {
    let mut play = quote_and_convert();
    let prompt = play.prompt("convert/feedback/1");
    for shown in
        ["capability: convert", "400", "amount must be greater than 0", "send a positive number", r#""amount": 0"#]
    {
        assert!(prompt.contains(shown), "{shown} is not in {prompt}");
    }
    assert!(!prompt.contains("468.285"), "the first prompt shows only the error");
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
fn a_change_suggested_by_feedback_is_sent() {
    let mut play = quote_and_convert();
    play.answer_model(
        "convert/feedback/1",
        r#"{"should_retry": true, "reason": "x", "suggested_changes": {"amount": "468.2850"}}"#,
    );
    assert_eq!(play.call("convert/call/2").parameters.to_string(), r#"{"amount":468.2850,"to":"KRW"}"#);
}

#[test]
fn a_correction_that_was_tried_or_does_not_fit_leads_to_the_next_rung() {
    for bad in [r#"{"amount": 0}"#, r#"{"amount": "many"}"#, r#"{"sum": 5}"#] {
        let mut play = quote_and_convert();
        play.answer_model("convert/feedback/1", &format!(r#"{{"should_retry": true, "suggested_changes": {bad}}}"#));
        assert_eq!(play.due(), ["convert/context/1"], "case: {bad}");
    }
}

#[test]
fn a_step_fails_with_its_reasons_after_the_last_rung() {
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
fn no_model_is_asked_about_denied_access_or_redirects() {
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
fn a_call_marked_not_retryable_fails_without_a_model() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool(
        "s/call/1",
        400,
        r#"{"success": false, "error": {"code": "INVALID_REQUEST", "message": "no", "category": "INPUT_ERROR", "retryable": false}}"#,
    );
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn a_transient_error_is_retried_unchanged_after_a_wait() {
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
fn a_backoff_grows_and_is_at_least_the_requested_wait() {
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
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed), "the limit is three resends");
}

#[test]
fn a_backoff_stays_within_its_maximum() {
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
fn the_waits_of_a_run_follow_from_the_id_that_its_caller_chose() {
    let waited = |seed: u64, id: &str| {
        let started = Started { seed, ..started(Some(plan(vec![step("s", "read", "{}")])), policy()) };
        let mut play = Play::begin(started.with_id(id.into()));
        play.answer_tool("s/call/1", 503, "{}");
        let before = play.now_ms;
        play.wake("s/retry-wait/1");
        play.now_ms - before
    };
    assert_eq!(waited(1, "refund-7"), waited(2, "refund-7"));
    assert_ne!(waited(1, "refund-7"), waited(1, "refund-8"));
}

#[test]
fn a_step_fails_if_the_tool_requests_a_wait_beyond_the_ceiling() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 429, r#"{"retry_after": 3600}"#);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Failed));
}

#[test]
fn an_error_about_the_idempotency_key_is_retried_and_never_mended() {
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
fn a_call_is_retried_if_the_model_calls_its_error_transient() {
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
fn a_step_without_dependencies_reaches_the_context_rung_unless_the_policy_forbids_it() {
    let mut strict = policy();
    strict.mending.feedback = 0;
    strict.mending.independent_steps = IndependentSteps::Denied;
    let mut open = strict.clone();
    open.mending.independent_steps = IndependentSteps::Allowed;
    for (policy, due) in [(strict, vec![]), (open, vec!["s/context/1".to_owned()])] {
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
        play.answer_tool("s/call/1", 400, "{}");
        assert_eq!(play.due(), due);
    }
}

#[test]
fn a_repeated_503_with_the_same_message_is_analysed() {
    let body = r#"{"success": false, "error": {"code": "SERVICE_UNAVAILABLE", "message": "region `XX`?", "category": "SERVICE_ERROR"}}"#;
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 503, body);
    assert_eq!(play.due(), ["s/retry-wait/1"]);
    play.wake("s/retry-wait/1");
    play.answer_tool("s/call/2", 503, body);
    assert_eq!(play.due(), ["s/feedback/1"]);
}

#[test]
fn the_next_rung_follows_if_every_model_fails() {
    let mut play = quote_and_convert();
    play.fail_model("convert/feedback/1", ErrorClass::ModelError);
    play.fail_model("convert/feedback/2", ErrorClass::ModelError);
    play.fail_model("convert/feedback/3", ErrorClass::ModelError);
    assert_eq!(play.due(), ["convert/context/1"]);
}

#[test]
fn a_call_with_an_unresolved_reference_is_not_sent() {
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
fn a_model_locates_a_missing_value_before_the_call() {
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
fn a_value_written_by_a_model_is_marked_inferred_and_needs_approval_in_an_unsafe_call() {
    let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("pay", "unsafe", r#"{"x": "{{a.b}}"}"#)]);
    play.answer_tool("a/call/1", 200, "{}");
    play.answer_model("pay/resolution/1", r#"{"x": 100}"#);
    assert_eq!(play.run.steps()[1].provenance[0].1, Provenance::Inferred);
    play.decide(Decision::Approve);
    assert_eq!(play.call("pay/call/1").parameters.to_string(), r#"{"x":100}"#);
}

#[test]
fn a_number_in_a_string_is_coerced_before_the_call_and_recorded() {
    let play = Play::of_steps(vec![step("s", "convert", r#"{"amount": "35.60"}"#)]);
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"amount":35.60}"#);
    assert_eq!(play.run.steps()[0].mends[0].rung, Rung::Schema);
}

#[test]
fn the_reason_for_giving_up_names_the_settings_that_forbid_a_repair() {
    let reason = |feedback: u32, context: u32| {
        let mut policy = policy();
        (policy.mending.facts, policy.mending.feedback, policy.mending.context) = (0, feedback, context);
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"city": "Tokio"}"#)])), policy));
        play.answer_tool("s/call/1", 400, r#"{"error": "type mismatch"}"#);
        let no = r#"{"should_retry": false, "reason": "no idea"}"#;
        for question in ["s/feedback/1", "s/context/1"] {
            if play.due() == [question] {
                play.answer_model(question, no);
            }
        }
        failure_reason(&play)
    };
    let off = "no model may correct it (`[mending]` turns off `feedback` and `context`)";
    assert!(reason(0, 0).ends_with(off), "{}", reason(0, 0));
    let no_context = "no model may look for the value in the results (`[mending]` turns off `context`)";
    assert!(reason(1, 0).ends_with(&format!("no idea; {no_context}")), "{}", reason(1, 0));
}

#[test]
fn the_reason_after_the_last_resend_counts_the_resends() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 500, "{}");
    for resend in 1..=3 {
        play.wake(&format!("s/retry-wait/{resend}"));
        play.answer_tool(&format!("s/call/{}", resend + 1), 500, "{}");
    }
    let reason = failure_reason(&play);
    assert!(reason.ends_with("the call still fails after it was sent again 3 times"), "{reason}");
}
