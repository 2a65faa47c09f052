//! Calls that tools reject, and their corrections.

use reknit_engine::{Outcome, Status};
use reknit_fakes::Reply;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_protocol::{Category, Retryable, Value};

use super::scene::{Scene, data, plan, rejects, step, tool_error};

/// The reply to a semantic retry that must not happen, because the error analysis is enough.
const NEVER: &str = r#"{"should_retry": false, "analysis": "this should not be asked"}"#;

fn strings(names: &[&str]) -> String {
    let properties: Vec<String> = names.iter().map(|name| format!(r#""{name}": {{"type": "string"}}"#)).collect();
    format!(r#"{{"type": "object", "properties": {{{}}}, "required": ["{}"]}}"#, properties.join(", "), names[0])
}

#[tokio::test]
async fn a_model_corrects_a_location_with_the_hint_of_the_tool() {
    let unknown = tool_error(
        "LOCATION_NOT_FOUND",
        "Location 'Flower Mound, TX' not found in weather database",
        Category::NotFound,
    )
    .detail("original_location", "Flower Mound, TX")
    .detail("hint", "Try 'City, Country' format");
    let parameters = r#"{"location": "Flower Mound, TX", "units": "metric"}"#;
    // The form of a payload correction in other orchestrators.
    let correction = r#"{"can_fix": true, "analysis": "TX is a state of the US.",
        "corrected_payload": {"location": "Flower Mound, Texas, US", "units": "metric"}}"#;
    let played =
        Scene::new("What's the weather in Flower Mound, TX?", &plan(&[step("step-1", "weather", parameters, "")]))
            .capability("weather", &strings(&["location", "units"]))
            .replies_to("weather", "location", "Flower Mound, TX", Reply::error(unknown))
            .replies("weather", data(r#"{"location": "Flower Mound", "temperature": 25.3}"#))
            .says("error_analysis", correction)
            .says("semantic_retry", NEVER)
            .play()
            .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(
        played.calls("weather"),
        [
            r#"{"location":"Flower Mound, TX","units":"metric"}"#,
            r#"{"location":"Flower Mound, Texas, US","units":"metric"}"#
        ]
    );
    assert_eq!(played.asked(), ["plan_generation", "error_analysis"]);
    for part in
        ["404", "LOCATION_NOT_FOUND", "NOT_FOUND", "not found in weather database", "Try 'City, Country' format"]
    {
        assert!(played.question(1).contains(part), "`{part}` is not in:\n{}", played.question(1));
    }
    assert!(played.answer.text.contains("Flower Mound, Texas, US"), "{}", played.answer.text);
}

#[tokio::test]
async fn a_typo_behind_a_503_is_corrected_although_a_503_looks_transient() {
    let unavailable =
        tool_error("SERVICE_UNAVAILABLE", "geocoding timed out: location 'Tokio' not found", Category::ServiceError)
            .retryable(Retryable::No)
            .detail("location", "Tokio");
    let played = Scene::new("weather in Tokio", &plan(&[step("step-1", "weather", r#"{"location": "Tokio"}"#, "")]))
        .capability("weather", &strings(&["location"]))
        .replies_to("weather", "location", "Tokio", Reply::error(unavailable))
        .replies("weather", data(r#"{"temperature": 12}"#))
        .says(
            "error_analysis",
            r#"{"should_retry": true, "reason": "a typing error", "suggested_changes": {"location": "Tokyo"}}"#,
        )
        .says("semantic_retry", NEVER)
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    let calls = played.calls("weather");
    assert_eq!(calls.last().map(String::as_str), Some(r#"{"location":"Tokyo"}"#));
    assert!(calls.len() <= 3, "at most one unchanged retry: {calls:?}");
    assert_eq!(played.asked(), ["plan_generation", "error_analysis"]);
}

#[tokio::test]
async fn coordinates_in_quotes_become_numbers_without_a_model() {
    let schema = r#"{"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat", "lon"]}"#;
    let parameters = r#"{"lat": "35.6897", "lon": "{{step-1.lon}}"}"#;
    let steps = [step("step-1", "geocode", "{}", ""), step("step-2", "weather", parameters, r#""step-1""#)];
    let played = Scene::new("weather in Tokyo", &plan(&steps))
        .capability("geocode", r#"{"type": "object", "properties": {}}"#)
        .capability("weather", schema)
        .replies("geocode", data(r#"{"lat": "35.6897", "lon": "139.6922"}"#))
        .replies("weather", data(r#"{"temperature": 12}"#))
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("weather"), [r#"{"lat":35.6897,"lon":139.6922}"#]);
    assert_eq!(played.asked(), ["plan_generation"]);
}

#[tokio::test]
async fn a_step_without_dependencies_is_mended_from_the_request() {
    let scene = |independent| {
        Scene::new("news from France", &plan(&[step("step-1", "news", r#"{"country": "France"}"#, "")]))
            .capability("news", &strings(&["country"]))
            .replies_to("news", "country", "FR", data(r#"{"headline": "Bonjour"}"#))
            .replies("news", rejects("country must be an ISO 3166 code of two letters"))
            .says("error_analysis", r#"{"should_retry": false, "reason": "which country is not said here"}"#)
            .says(
                "semantic_retry",
                r#"{"should_retry": true, "analysis": "France is FR", "corrected_parameters": {"country": "FR"}}"#,
            )
            .policy(|policy| policy.mending.independent_steps = independent)
    };
    let played = scene(reknit_mend::IndependentSteps::Allowed).play().await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("news"), [r#"{"country":"France"}"#, r#"{"country":"FR"}"#]);
    assert_eq!(played.asked(), ["plan_generation", "error_analysis", "semantic_retry"]);
    assert!(played.question(2).contains("news from France"));

    let played = scene(reknit_mend::IndependentSteps::Denied).play().await;
    assert_eq!(played.answer.status, Status::Failed);
    assert_eq!(played.calls("news").len(), 1);
    assert_eq!(played.asked(), ["plan_generation", "error_analysis"]);
}

#[tokio::test]
async fn a_value_that_no_model_can_find_fails_the_step_with_the_reason() {
    let played = Scene::new("get stock price", &plan(&[step("step-1", "quote", r#"{"symbol": ""}"#, "")]))
        .capability("quote", &strings(&["symbol"]))
        .replies("quote", rejects("symbol is required"))
        .says("error_analysis", r#"{"should_retry": false, "reason": "no symbol is known"}"#)
        .says("semantic_retry", r#"{"should_retry": false, "analysis": "No stock symbol available in source data", "corrected_parameters": {}}"#)
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Failed);
    assert_eq!(played.calls("quote"), [r#"{"symbol":""}"#]);
    assert_eq!(played.asked(), ["plan_generation", "error_analysis", "semantic_retry"]);
    for part in ["symbol is required", "No stock symbol available in source data"] {
        assert!(played.answer.text.contains(part), "`{part}` is not in:\n{}", played.answer.text);
    }
    assert!(matches!(played.answer.steps[0].outcome, Outcome::Failed { .. }));
}

#[tokio::test]
async fn a_negative_amount_is_corrected_to_the_requested_one() {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}"#;
    let played =
        Scene::new("convert 500 dollars to won", &plan(&[step("step-1", "convert", r#"{"amount": -500}"#, "")]))
            .capability("convert", schema)
            .replies_to("convert", "amount", -500, rejects("amount must be positive"))
            .replies_to("convert", "amount", 500, data(r#"{"won": 650000}"#))
            .says(
                "error_analysis",
                r#"{"should_retry": true, "reason": "it must be positive", "suggested_changes": {"amount": 500}}"#,
            )
            .says("semantic_retry", NEVER)
            .play()
            .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("convert"), [r#"{"amount":-500}"#, r#"{"amount":500}"#]);
}

#[tokio::test]
async fn a_model_corrects_the_name_of_a_currency_to_its_code() {
    let unknown =
        tool_error("CURRENCY_NOT_FOUND", "currency not found: Euro", Category::NotFound).detail("field", "to");
    let parameters = r#"{"to": "Euro", "amount": 10}"#;
    let schema = r#"{"type": "object", "properties": {"to": {"type": "string"}, "amount": {"type": "number"}}, "required": ["to"]}"#;
    let played = Scene::new("10 dollars in euros", &plan(&[step("step-1", "convert", parameters, "")]))
        .capability("convert", schema)
        .replies_to("convert", "to", "Euro", Reply::error(unknown))
        .replies("convert", data(r#"{"euros": 9.2}"#))
        .says("error_analysis", r#"{"should_retry": true, "reason": "the code", "suggested_changes": {"to": "EUR"}}"#)
        .says("semantic_retry", NEVER)
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("convert"), [r#"{"to":"Euro","amount":10}"#, r#"{"to":"EUR","amount":10}"#]);
    assert_eq!(played.asked(), ["plan_generation", "error_analysis"]);
}

const COORDINATES: &str = r#"{"type": "object", "additionalProperties": false, "required": ["lat", "lon"],
    "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}"#;

#[tokio::test]
async fn a_planner_that_invents_parameter_names_sees_the_existing_ones() {
    let planned = |parameters| plan(&[step("step-1", "weather", parameters, "")]);
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::text(planned(r#"{"latitude": 35.6897, "longitude": 139.6922}"#)))
        .on(RequestMatcher::any(), Reply::text(planned(r#"{"lat": 35.6897, "lon": 139.6922}"#)));
    let played = Scene::new("weather at 35.6897, 139.6922", "")
        .script(script)
        .capability("weather", COORDINATES)
        .replies("weather", data(r#"{"temperature": 12}"#))
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("weather"), [r#"{"lat":35.6897,"lon":139.6922}"#]);
    assert!(
        played.question(1).contains("has no parameter `latitude` (there is `lat`, `lon`)"),
        "{}",
        played.question(1)
    );
}

#[tokio::test]
async fn a_model_says_where_a_missing_value_is_and_the_engine_reads_it() {
    let steps = [step("step-1", "geocode", "{}", ""), step("step-2", "weather", "{}", r#""step-1""#)];
    let played = Scene::new("weather in Tokyo", &plan(&steps))
        .capability("geocode", r#"{"type": "object", "properties": {}}"#)
        .capability("weather", COORDINATES)
        .replies("geocode", data(r#"{"latitude": 35.6897, "longitude": "139.6922"}"#))
        .replies("weather", data(r#"{"temperature": 12}"#))
        .says("micro_resolution", r#"{"lat": "step-1.latitude", "lon": "{{step-1.longitude}}"}"#)
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("weather"), [r#"{"lat":35.6897,"lon":139.6922}"#]);
    assert_eq!(played.asked(), ["plan_generation", "micro_resolution"]);
}

#[tokio::test]
async fn a_rejected_call_fails_if_all_corrections_are_off() {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}"#;
    let played = Scene::new("convert", &plan(&[step("step-1", "convert", r#"{"amount": 0}"#, "")]))
        .capability("convert", schema)
        .replies("convert", rejects("amount must be greater than 0"))
        .policy(|policy| (policy.mending.feedback, policy.mending.context) = (0, 0))
        .play()
        .await;
    assert_eq!(played.answer.status, Status::Failed);
    assert_eq!(played.calls("convert").len(), 1);
    assert_eq!(played.asked(), ["plan_generation"], "no model is asked about the rejection");
    assert_eq!(played.run.result("step-1").map(Value::to_string), None);
}
