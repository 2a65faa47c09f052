//! The facts rung: a call is mended without a model by what its error states.

use std::sync::Arc;

use reknit_engine::{Decision, EventKind, Policy, Started, Status};
use reknit_expressions::{Backing, Provenance};
use reknit_mend::{MendEffect, Rung};
use reknit_plan::CatalogueEntry;
use reknit_protocol::{Capability, SideEffect};

use crate::world::{Play, answer, catalogue, effect_id, failure_reason, json, plan, policy, started, step};

fn refusal(message: &str, details: &str) -> String {
    format!(
        r#"{{"success": false, "error": {{"code": "X", "category": "INPUT_ERROR", "message": "{message}", "retryable": true, "details": {details}}}}}"#
    )
}

/// A run with one step under test, and a tool `weather` that requires coordinates.
fn one_step(capability: &str, parameters: &str) -> Play {
    let schema = json(
        r#"{"type": "object", "required": ["lat", "lon"],
            "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}, "units": {"type": "string"}}}"#,
    );
    let mut weather = Capability::new("weather");
    weather.effect = SideEffect::Read;
    let mut catalogue = catalogue();
    catalogue.tools[0].capabilities.push(CatalogueEntry::new(weather, Some(schema)).expect("the schema is valid"));
    // The step depends on another one: its missing parameters could come from there, so the plan check accepts it.
    let steps = vec![step("first", "read", "{}"), step("s", capability, parameters).after("first")];
    let started = started(Some(plan(steps)), policy());
    let mut play = Play::begin(Started { catalogue: Arc::new(catalogue), ..started });
    play.answer_tool("first/call/1", 200, "{}");
    play
}

/// A call that is rejected once. No model is asked.
fn mended(capability: &str, parameters: &str, status: u16, body: &str) -> Play {
    let mut play = one_step(capability, parameters);
    play.answer_tool("s/call/1", status, body);
    assert_eq!(play.run.spent().model_calls, 0);
    play
}

#[test]
fn a_call_is_mended_by_what_its_error_states_and_no_model_is_asked() {
    for (case, capability, parameters, status, body, expected) in [
        (
            "allowed values",
            "read",
            r#"{"to": "Euro", "amount": 5}"#,
            400,
            refusal("there is no rate", r#"{"field": "to", "allowed": ["EUR", "USD", "KRW"]}"#),
            r#"{"to":"EUR","amount":5}"#,
        ),
        (
            "a wrong name",
            "read",
            r#"{"latitude": 1.5}"#,
            422,
            r#"{"detail": [{"type": "missing", "loc": ["body", "lat"], "msg": "Field required"},
                {"type": "extra_forbidden", "loc": ["body", "latitude"], "msg": "Extra inputs are not permitted"}]}"#
                .to_owned(),
            r#"{"lat":1.5}"#,
        ),
        (
            "an unknown field",
            "weather",
            r#"{"lat": 1, "lon": 2, "detailed": true}"#,
            400,
            refusal("there is no field `detailed`", r#"{"field": "detailed", "fields": ["lat", "lon"]}"#),
            r#"{"lat":1,"lon":2}"#,
        ),
        (
            "a number in a string, in the words of Go",
            "read",
            r#"{"lat": "35.6897", "lon": "139.6917"}"#,
            400,
            r#"{"error": "json: cannot unmarshal string into Go struct field WeatherRequest.lat of type float64"}"#
                .to_owned(),
            r#"{"lat":35.6897,"lon":"139.6917"}"#,
        ),
        (
            "a version that is stale",
            "read",
            r#"{"version": 5}"#,
            409,
            refusal("version conflict", r#"{"current_version": 7}"#),
            r#"{"version":7}"#,
        ),
        (
            "a date in another form",
            "read",
            r#"{"day": "31/01/2024"}"#,
            422,
            r#"{"errors": {"day": ["must be in the format YYYY-MM-DD"]}}"#.to_owned(),
            r#"{"day":"2024-01-31"}"#,
        ),
    ] {
        let play = mended(capability, parameters, status, &body);
        assert_eq!(play.due(), ["s/call/2"], "case: {case}");
        assert_eq!(play.call("s/call/2").parameters.to_string(), expected, "case: {case}");
        let mend = &play.run.steps()[1].mends[0];
        assert_eq!((mend.rung, mend.effect), (Rung::Facts, MendEffect::Applied), "case: {case}");
    }
}

#[test]
fn a_missing_value_is_not_taken_from_a_step_that_only_happens_to_be_done() {
    for (follows, due) in [(true, "s/call/2"), (false, "s/feedback/1")] {
        let s = step("s", "read", r#"{"id": 7}"#);
        let s = if follows { s.after("quote") } else { s };
        let mut play = Play::of_steps(vec![step("quote", "read", "{}"), s]);
        play.answer_tool("quote/call/1", 200, r#"{"currency": "USD"}"#);
        play.answer_tool("s/call/1", 400, r#"{"message": "missing field `currency`"}"#);
        assert_eq!(play.due(), [due], "the step follows the other one: {follows}");
    }
}

#[test]
fn a_misnamed_parameter_is_renamed_before_the_call_without_a_model() {
    let mut play = one_step("weather", r#"{"latitude": 37.5, "longitude": "126.9"}"#);
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"lat":37.5,"lon":126.9}"#);
    let view = &play.run.steps()[1];
    assert_eq!(view.mends[0].rung, Rung::Facts);
    assert!(
        view.provenance
            .iter()
            .all(|(_, origin)| *origin == Provenance::Corrected { rung: "facts".to_owned(), backing: Backing::Known })
    );
    play.answer_tool("s/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.model_calls), (Status::Complete, 0));
}

#[test]
fn a_call_is_not_sent_while_a_parameter_of_the_plan_is_unresolved() {
    let play = one_step("weather", r#"{"latitude": 37.5, "lon": 1, "units": "{{first.units}}"}"#);
    assert_eq!(play.due(), ["s/resolution/1"]);
}

#[test]
fn a_missing_field_is_taken_from_the_one_result_that_has_it() {
    let mut play = Play::of_steps(vec![
        step("quote", "read", r#"{"symbol": "TSLA"}"#),
        step("convert", "read", r#"{"amount": 5}"#).after("quote"),
    ]);
    play.answer_tool("quote/call/1", 200, r#"{"success": true, "data": {"currency": "USD"}}"#);
    play.answer_tool("convert/call/1", 400, r#"{"message": "missing field `currency`"}"#);
    assert_eq!(play.call("convert/call/2").parameters.to_string(), r#"{"amount":5,"currency":"USD"}"#);
    let description = &play.run.steps()[1].mends[0].description;
    insta::assert_snapshot!(description, @r#"fill: currency nothing -> "USD", from a result (`currency`: is required)"#);
}

#[test]
fn a_model_is_asked_with_the_facts_if_they_do_not_determine_a_change() {
    let play = mended_by_model(policy());
    let prompt = play.prompt("s/feedback/1");
    assert!(prompt.contains("- `amount`: must be more than 0"), "{prompt}");
}

fn mended_by_model(policy: Policy) -> Play {
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"amount": 0}"#)])), policy));
    play.answer_tool("s/call/1", 400, &refusal("amount must be greater than 0", "{}"));
    play
}

#[test]
fn a_model_is_asked_after_the_budget_of_the_facts_rung() {
    let body = refusal("no", r#"{"field": "to", "allowed": ["EUR", "USD"]}"#);
    let mut play = mended("read", r#"{"to": "Euro", "from": "us-d"}"#, 400, &body);
    play.answer_tool("s/call/2", 400, &refusal("no", r#"{"field": "from", "allowed": ["EUR", "USD"]}"#));
    assert_eq!(play.call("s/call/3").parameters.to_string(), r#"{"to":"EUR","from":"USD"}"#);
    play.answer_tool("s/call/3", 400, &refusal("no", r#"{"field": "to", "allowed": ["EURO", "DOLLAR"]}"#));
    assert_eq!(play.due(), ["s/feedback/1"], "the budget is two attempts");
    let mut off = policy();
    off.mending.facts = 0;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"to": "Euro"}"#)])), off));
    play.answer_tool("s/call/1", 400, &body);
    assert_eq!(play.due(), ["s/feedback/1"], "the facts rung is off");
}

#[test]
fn a_change_is_not_tried_twice() {
    let allowed = |list: &str| refusal("no", &format!(r#"{{"field": "to", "allowed": {list}}}"#));
    let mut play = mended("read", r#"{"to": "Euro"}"#, 400, &allowed(r#"["EUR"]"#));
    play.answer_tool("s/call/2", 400, &allowed(r#"["Euro"]"#));
    assert_eq!(play.due(), ["s/feedback/1"]);
    let mends = &play.run.steps()[1].mends;
    assert_eq!(mends[1].effect, MendEffect::NoHelp);
    assert!(mends[1].description.contains("it was tried before"), "{}", mends[1].description);

    let mut alone = started(Some(plan(vec![step("s", "read", r#"{"to": "Euro"}"#)])), policy());
    alone.targets.clear();
    let mut play = Play::begin(alone);
    play.answer_tool("s/call/1", 400, &allowed(r#"["EUR"]"#));
    play.answer_tool("s/call/2", 400, &allowed(r#"["Euro"]"#));
    let reason = failure_reason(&play);
    assert!(reason.contains("it was tried before"), "without a model, that is why the call is given up: {reason}");
}

#[test]
fn a_changed_unsafe_call_needs_approval() {
    let mut play = mended("unsafe", r#"{"to": "Euro"}"#, 400, &refusal("no", r#"{"field": "to", "allowed": ["EUR"]}"#));
    play.decide(Decision::Approve);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"to":"EUR"}"#);
}

#[test]
fn a_call_marked_not_retryable_is_still_mended_by_facts() {
    let body = refusal("no", r#"{"field": "to", "allowed": ["EUR"]}"#)
        .replace("true", "false")
        .replace("\"success\": true", "\"success\": false");
    let play = mended("read", r#"{"to": "Euro"}"#, 400, &body);
    assert_eq!(play.due(), ["s/call/2"]);
}

#[test]
fn denied_access_is_not_mended_by_facts() {
    for status in [401, 403, 405] {
        let play =
            mended("read", r#"{"to": "Euro"}"#, status, &refusal("no", r#"{"field": "to", "allowed": ["EUR"]}"#));
        assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Partial), "case: {status}");
    }
}

#[test]
fn facts_of_a_503_are_used_only_if_they_name_the_input() {
    for (case, body, due) in [
        ("it offers a name", r#"{"error": "city 'Tokoy' not found, did you mean 'Tokyo'?"}"#, "s/call/2"),
        ("it quotes a parameter value", r#"{"error": "upstream: location 'Tokoy' not found"}"#, "s/feedback/1"),
        ("it names a parameter", r#"{"error": "city must be one of: Paris, Rome"}"#, "s/feedback/1"),
        ("it names a field that the call does not have", r#"{"error": "backend is required"}"#, "s/retry-wait/1"),
        ("nothing", r#"{"error": "overloaded"}"#, "s/retry-wait/1"),
    ] {
        let play = failed_call("read", 503, body);
        assert_eq!(play.due(), [due], "case: {case}");
    }
    let body = r#"{"error": "city 'Tokoy' not found, did you mean 'Tokyo'?"}"#;
    assert_eq!(
        failed_call("keyed", 503, body).due(),
        ["s/retry-wait/1"],
        "a call that may have taken effect is not changed, so no model is asked"
    );
    assert_eq!(failed_call("read", 500, body).due(), ["s/retry-wait/1"], "another server error is only retried");
}

fn failed_call(capability: &str, status: u16, body: &str) -> Play {
    let mut play = Play::of_steps(vec![step("s", capability, r#"{"city": "Tokoy"}"#)]);
    play.answer_tool("s/call/1", status, body);
    play
}

#[test]
fn a_retry_time_in_the_body_becomes_a_wait_from_now() {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.now_ms = 1_769_853_600_000;
    play.answer_tool("s/call/1", 429, r#"{"retry_after": "2026-01-31T10:00:50Z"}"#);
    let before = play.now_ms;
    play.wake("s/retry-wait/1");
    assert!((50_000..=62_500).contains(&(play.now_ms - before)), "{}", play.now_ms - before);
}

#[test]
fn braces_in_an_error_are_never_a_reference() {
    let mut play = Play::of_steps(vec![
        step("secret", "read", "{}"),
        step("s", "read", r#"{"to": "{{{{secret.key}}"}"#).after("secret"),
    ]);
    play.answer_tool("secret/call/1", 200, r#"{"key": "hush"}"#);
    play.answer_tool("s/call/1", 400, &refusal("no", r#"{"field": "to", "allowed": ["{{secret.keys}}", "b"]}"#));
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"to":"{{secret.keys}}"}"#);
}

#[test]
fn a_call_with_an_unknown_outcome_is_not_changed_even_if_a_later_attempt_is_rejected() {
    for capability in ["keyed", "undeclared"] {
        let mut play = one_step(capability, r#"{"Version": "7"}"#);
        let timeout = reknit_protocol::TransportFailure {
            kind: reknit_protocol::TransportKind::TimedOut,
            delivery: reknit_protocol::Delivery::Possible,
            message: "no answer".to_owned(),
        };
        play.happen(EventKind::ToolFailed { effect: effect_id("s/call/1"), failure: timeout });
        play.wake("s/retry-wait/1");
        let key = play.call("s/call/2").idempotency_key;
        play.answer_tool("s/call/2", 400, &refusal("unknown field `Version`, expected `version`", "{}"));
        let changed = play.due().iter().any(|due| due == "s/call/3");
        assert!(!changed, "{capability}: {:?}", play.due());
        assert!(key.is_some());
    }
}

#[test]
fn a_changed_unsafe_call_fails_if_no_person_can_be_asked() {
    let nobody = Policy { people: reknit_mend::PeoplePolicy::Nobody, ..policy() };
    let steps = vec![step("s", "unsafe", r#"{"to": "Euro"}"#)];
    let mut play = Play::begin(started(Some(plan(steps)), nobody));
    play.answer_tool("s/call/1", 400, &refusal("no", r#"{"field": "to", "allowed": ["EUR", "USD"]}"#));
    assert_eq!(answer(&play).status, Status::Failed);
}

#[test]
fn facts_are_found_in_a_long_body() {
    let long = "at line 1; ".repeat(2_000);
    let body = format!(
        r#"{{"trace": "{long}", "detail": [{{"type": "missing", "loc": ["body", "lat"], "msg": "Field required"}},
            {{"type": "extra_forbidden", "loc": ["body", "latitude"], "msg": "Extra inputs are not permitted"}}]}}"#
    );
    let play = mended("read", r#"{"latitude": 1.5}"#, 422, &body);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"lat":1.5}"#);
}

#[test]
fn a_truncated_list_of_allowed_values_determines_nothing() {
    let states: Vec<String> = (0..2_000).map(|number| format!("\"State {number}\"")).collect();
    for (listed, mended) in [(&states[..3], true), (&states[..], false)] {
        let mut play = one_step("read", r#"{"to": "state 1"}"#);
        let listed = listed.join(", ");
        let body = format!(
            r#"{{"detail": [{{"loc": ["body", "to"], "msg": "no such state", "type": "enum", "ctx": {{"enum_values": [{listed}]}}}}]}}"#
        );
        play.answer_tool("s/call/1", 400, &body);
        assert_eq!(play.due().iter().any(|due| due == "s/call/2"), mended, "{:?}", play.due());
    }
}
