//! The feedback rung: a model analyses the error of a call.

use std::sync::Arc;

use reknit_engine::{EventKind, Policy, Started, Status};
use reknit_mend::Rung;
use reknit_model_api::ErrorClass;
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{Capability, Step};

use crate::world::{Play, failure_reason, json, object, plan, policy, started, step};

/// A call that the tool has answered. The context rung is off.
fn called(parameters: &str, status: u16, body: &str) -> Play {
    called_with(policy(), parameters, status, body)
}

fn called_with(mut policy: Policy, parameters: &str, status: u16, body: &str) -> Play {
    policy.mending.context = 0;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", parameters)])), policy));
    play.answer_tool("s/call/1", status, body);
    play
}

#[test]
fn a_model_analyses_client_errors_but_not_denied_access_or_server_errors() {
    for (status, due, questions) in [
        (401, "", 0),
        (403, "", 0),
        (405, "", 0),
        (407, "", 0),
        (408, "s/retry-wait/1", 0),
        (429, "s/retry-wait/1", 0),
        (500, "s/retry-wait/1", 0),
        (502, "s/retry-wait/1", 0),
        (504, "s/retry-wait/1", 0),
        (503, "s/retry-wait/1", 0),
        (400, "s/feedback/1", 1),
        (404, "s/feedback/1", 1),
        (409, "s/feedback/1", 1),
        (422, "s/feedback/1", 1),
        (402, "s/feedback/1", 1),
        (410, "s/feedback/1", 1),
        (418, "s/feedback/1", 1),
        (451, "s/feedback/1", 1),
    ] {
        let play = called(r#"{"city": "Soul"}"#, status, r#"{"message": "it did not work"}"#);
        assert_eq!(play.due().join(" "), due, "case: {status}");
        assert_eq!(play.run.spent().model_calls, questions, "case: {status}");
        if due.is_empty() {
            let cause = if status == 405 { "the tool does not accept calls" } else { "the tool denied access" };
            let reason = failure_reason(&play);
            assert!(reason.contains("it did not work") && reason.contains(cause), "{status}: {reason}");
        }
    }
}

#[test]
fn a_suggested_change_is_sent() {
    for (case, status, parameters, body, changes, sent) in [
        ("a typo", 400, r#"{"city": "Soul"}"#, "unknown city", r#"{"city": "Seoul"}"#, r#"{"city":"Seoul"}"#),
        (
            "another version",
            409,
            r#"{"id": 7, "version": 3}"#,
            "conflict with the stored version",
            r#"{"version": 4}"#,
            r#"{"id":7,"version":4}"#,
        ),
        (
            "another form of a date",
            422,
            r#"{"on": "tomorrow week"}"#,
            "not a day",
            r#"{"on": "2026-11-22"}"#,
            r#"{"on":"2026-11-22"}"#,
        ),
        (
            "something inside",
            422,
            r#"{"filter": {"a": 1}, "page": 2}"#,
            "no",
            r#"{"filter": {"a": [1, {"b": "}"}]}}"#,
            r#"{"filter":{"a":[1,{"b":"}"}]},"page":2}"#,
        ),
    ] {
        let mut play = called(parameters, status, &format!(r#"{{"message": "{body}"}}"#));
        play.answer_model(
            "s/feedback/1",
            &format!(r#"{{"should_retry": true, "reason": "r", "suggested_changes": {changes}}}"#),
        );
        assert_eq!(play.call("s/call/2").parameters.to_string(), sent, "case: {case}");
    }
}

#[test]
fn a_call_that_the_model_cannot_correct_fails_without_another_attempt() {
    let mut play = called(r#"{"city": "Atlantis"}"#, 404, r#"{"message": "no such city"}"#);
    play.answer_model("s/feedback/1", r#"{"should_retry": false, "reason": "there is no such city"}"#);
    assert_eq!(play.run.spent().tool_calls, 1);
    assert!(failure_reason(&play).contains("no such city"));
}

#[test]
fn a_503_whose_message_names_the_input_is_analysed() {
    let about_input = r#"{"error": "lookup failed: city 'Soul' not found"}"#;
    let mut play = called(r#"{"city": "Soul"}"#, 503, about_input);
    play.answer_model(
        "s/feedback/1",
        r#"{"should_retry": true, "reason": "a typo", "suggested_changes": {"city": "Seoul"}, "is_transient_error": false}"#,
    );
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"city":"Seoul"}"#);
    let mut play = called(r#"{"city": "Soul"}"#, 503, about_input);
    play.answer_model("s/feedback/1", r#"{"should_retry": false, "reason": "the backend is down"}"#);
    assert!(failure_reason(&play).contains("the backend is down"));
}

#[test]
fn every_combination_of_advice_fields_has_a_defined_effect() {
    for (retry, changes, transient, due) in [
        (true, r#"{"city": "Seoul"}"#, false, "s/call/2"),
        (true, r#"{"city": "Seoul"}"#, true, "s/call/2"),
        (true, "{}", true, "s/retry-wait/1"),
        (true, "{}", false, "s/retry-wait/1"),
        (false, "{}", true, "s/retry-wait/1"),
        (false, "{}", false, ""),
        (false, r#"{"city": "Seoul"}"#, false, ""),
        (false, r#"{"city": "Seoul"}"#, true, "s/retry-wait/1"),
    ] {
        let mut play = called(r#"{"city": "Soul"}"#, 422, "{}");
        let advice = format!(
            r#"{{"should_retry": {retry}, "reason": "r", "suggested_changes": {changes}, "is_transient_error": {transient}}}"#
        );
        play.answer_model("s/feedback/1", &advice);
        assert_eq!(play.due().join(" "), due, "case: {advice}");
    }
}

#[test]
fn an_analysis_is_found_in_fences_and_prose_but_not_in_incomplete_json() {
    let whole = r#"{"should_retry": true, "reason": "a {typo} in \"city\"", "suggested_changes": {"city": "Seoul"}}"#;
    for (case, text, is_one) in [
        ("plain", whole.to_owned(), true),
        ("fenced", format!("```json\n{whole}\n```"), true),
        ("fenced without a language", format!("```\n{whole}\n```"), true),
        ("in prose", format!("I looked at it. {whole} That should do."), true),
        ("after thinking", format!("<think>maybe {{}}?</think>{whole}"), true),
        ("no JSON", "It is a typo.".to_owned(), false),
        ("broken off", whole.chars().take(60).collect(), false),
        ("without a verdict", r#"{"reason": "a typo"}"#.to_owned(), false),
        ("a list", "[true]".to_owned(), false),
    ] {
        let mut play = called(r#"{"city": "Soul"}"#, 400, "{}");
        play.answer_model("s/feedback/1", &text);
        let is_sent = play.due() == ["s/call/2"];
        assert_eq!(is_sent, is_one, "case: {case}");
        let last = play.run.steps()[0].mends.last().cloned().expect("the analysis is recorded");
        assert_eq!(last.rung, Rung::Feedback, "case: {case}: {}", last.description);
    }
}

#[test]
fn an_answer_of_bare_parameters_is_accepted_only_if_the_call_has_all_of_them() {
    let body = r#"{"error": "json: cannot unmarshal string into Go struct field .lat of type float64"}"#;
    for (case, answer, sent) in [
        ("numbers", r#"{"lat": 35.6897, "lon": 139.69}"#, Some(r#"{"lat":35.6897,"lon":139.69}"#)),
        ("one of them", "```json\n{\"lat\": 35.6897}\n```", Some(r#"{"lat":35.6897,"lon":"139.69E"}"#)),
        ("another spelling", r#"{"Lat": 35.6897}"#, Some(r#"{"lat":35.6897,"lon":"139.69E"}"#)),
        ("something else besides", r#"{"lat": 35.6897, "note": "fixed"}"#, None),
        ("nothing of it", r#"{"answer": 42}"#, None),
        ("broken off", r#"{"lat": 35.68"#, None),
        ("the same again", r#"{"lat": "35.6897N", "lon": "139.69E"}"#, None),
    ] {
        let mut play = called(r#"{"lat": "35.6897N", "lon": "139.69E"}"#, 400, body);
        play.answer_model("s/feedback/1", answer);
        let due = play.due();
        let found = due.iter().any(|due| due == "s/call/2").then(|| play.call("s/call/2").parameters.to_string());
        assert_eq!(found.as_deref(), sent, "case: {case}");
    }
}

#[test]
fn no_model_is_asked_if_feedback_is_off_or_no_model_exists_or_the_run_is_cancelled() {
    let mut off = policy();
    off.mending.feedback = 0;
    let play = called_with(off, "{}", 400, "{}");
    assert_eq!(
        (play.run.answer().map(|answer| answer.status), play.run.spent().model_calls),
        (Some(Status::Failed), 0)
    );

    for (error, reason) in [
        ("unknown city", "there is no model to ask"),
        ("the account is empty", "the error refers to no parameter that could be changed"),
    ] {
        let mut alone = started(Some(plan(vec![step("s", "read", r#"{"city": "Soul"}"#)])), policy());
        alone.targets.clear();
        let mut play = Play::begin(alone);
        play.answer_tool("s/call/1", 400, &format!(r#"{{"message": "{error}"}}"#));
        assert!(failure_reason(&play).ends_with(reason), "{}", failure_reason(&play));
    }

    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.happen(EventKind::Cancelled);
    play.answer_tool("s/call/1", 400, "{}");
    assert_eq!(
        (play.run.answer().map(|answer| answer.status), play.run.spent().model_calls),
        (Some(Status::Cancelled), 0)
    );
}

#[test]
fn a_call_is_not_repeated_if_no_model_could_analyse_it() {
    let mut play = called(r#"{"city": "Soul"}"#, 400, r#"{"message": "unknown city"}"#);
    for ask in 1..=3 {
        play.fail_model(&format!("s/feedback/{ask}"), ErrorClass::ModelError);
    }
    assert_eq!(play.run.spent().tool_calls, 1);
    assert!(failure_reason(&play).contains("unknown city"));
}

#[test]
fn the_feedback_prompt_contains_every_part_of_the_error_within_its_size_limit() {
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {
        "amount": {"type": "number", "description": "How much, in units of the currency."}}}"#;
    let mut capability = Capability::new("convert");
    capability.description = "Converts an amount of money.".to_owned();
    let capabilities = vec![CatalogueEntry::new(capability, Some(json(schema))).expect("the schema is valid")];
    let tool = CatalogueTool { name: "bank".into(), description: String::new(), capabilities };
    let given = plan(vec![
        Step::new("s", "bank", "convert", "convert the proceeds").with_parameters(object(r#"{"amount": 5}"#)),
    ]);
    let catalogue = Arc::new(Catalogue { tools: vec![tool] });
    let mut play = Play::begin(Started { catalogue, ..started(Some(given), policy()) });
    let long = "x".repeat(100_000);
    play.answer_tool(
        "s/call/1",
        422,
        &format!(
            r#"{{"success": false, "error": {{"code": "RATE_UNKNOWN", "message": "no rate today", "category": "NOT_FOUND",
                "details": {{"hint": "ask for EUR", "dump": "{long}"}}}}}}"#
        ),
    );
    let prompt = play.prompt("s/feedback/1");
    for (part, shown) in [
        ("status", "status: 422"),
        ("tool", "tool: bank"),
        ("capability", "capability: convert"),
        ("its description", "description: <data>Converts an amount of money.</data>"),
        ("request", "request: sell 100 shares"),
        ("instruction", "instruction: convert the proceeds"),
        ("attempt", "attempt: 1"),
        ("code", "code: <data>RATE_UNKNOWN</data>"),
        ("category", "category: <data>NOT_FOUND</data>"),
        ("message", "no rate today"),
        ("details and hint", r#""hint":"ask for EUR""#),
        ("parameters", r#""amount": 5"#),
        ("schema", r#""required""#),
        ("what parameters are for", "How much, in units of the currency."),
        ("answer: whether", "should_retry"),
        ("answer: why", r#""reason""#),
        ("answer: what", "suggested_changes"),
        ("answer: later", "is_transient_error"),
        ("what is cut", "…"),
    ] {
        assert!(prompt.contains(shown), "{part}: {shown} is not in {prompt}");
    }
    assert!(prompt.len() < 20_000, "{} bytes", prompt.len());
}

#[test]
fn a_date_is_sent_as_its_format_asks_for_and_a_text_without_its_format_is_a_fact_once_the_tool_rejects_it() {
    let schema = r#"{"type": "object", "properties": {
        "day": {"type": "string", "format": "date"}, "guest": {"type": "string", "format": "email"}}}"#;
    let capabilities =
        vec![CatalogueEntry::new(Capability::new("book"), Some(json(schema))).expect("the schema is valid")];
    let tool = CatalogueTool { name: "hotel".into(), description: String::new(), capabilities };
    let parameters = object(r#"{"day": "March 5, 2026", "guest": "jo"}"#);
    let given = plan(vec![Step::new("s", "hotel", "book", "book a room").with_parameters(parameters)]);
    let catalogue = Arc::new(Catalogue { tools: vec![tool] });
    let mut play = Play::begin(Started { catalogue, ..started(Some(given), policy()) });
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"day":"2026-03-05","guest":"jo"}"#);
    play.answer_tool("s/call/1", 422, r#"{"message": "the booking is not possible"}"#);
    let prompt = play.prompt("s/feedback/1");
    assert!(prompt.contains("`guest`: must be written as email"), "{prompt}");
}
