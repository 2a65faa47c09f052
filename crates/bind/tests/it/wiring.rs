//! Parameters that the plan left out.

use reknit_bind::Provenance;
use reknit_protocol::Path;

use crate::kit::{Results, bound, bound_to, ids, object, reasons, schema, unbound};

const WEATHER: &str = r#"{"type": "object", "required": ["lat", "lon"], "additionalProperties": false, "properties": {
    "lat": {"type": "number"}, "lon": {"type": "number"}, "userId": {"type": "string"}, "name": {"type": "string"}}}"#;

fn parameters(plan: &str, results: &str) -> String {
    bound(bound_to(plan, &Results::new(results), Some(&schema(WEATHER)))).parameters.to_string()
}

fn why(plan: &str, results: &str) -> String {
    reasons(&unbound(bound_to(plan, &Results::new(results), Some(&schema(WEATHER)))))
}

#[test]
fn a_required_parameter_is_wired_from_the_one_result_that_has_it() {
    for (case, results) in [
        ("in the body", r#"{"a": {"lat": 1, "lon": 2}}"#),
        ("in an envelope", r#"{"a": {"success": true, "data": {"lat": 1, "lon": 2}}}"#),
        ("twice the same", r#"{"a": {"lat": 1, "lon": 2, "data": {"lat": 1}}}"#),
        ("as text", r#"{"a": {"lat": "1", "lon": "2"}}"#),
        ("spelt otherwise", r#"{"a": {"LAT": 1, "L-on": 2}}"#),
        ("beside one that does not fit", r#"{"a": {"lat": 1, "lon": 2}, "b": {"lat": "north"}}"#),
        ("exactly before nearly", r#"{"a": {"lat": 1, "lon": 2}, "b": {"LAT": 9}}"#),
        ("from two", r#"{"a": {"lat": 1}, "b": {"lon": 2}}"#),
    ] {
        assert_eq!(parameters("{}", results), r#"{"lat":1,"lon":2}"#, "case: {case}");
    }
}

#[test]
fn a_guess_is_made_only_where_there_is_no_doubt() {
    insta::assert_snapshot!(why("{}", r#"{"a": {"lat": 1}, "b": {"lat": 2}}"#), @"
    `lat`: ambiguous: a.lat, b.lat
    `lon`: not in the plan, and in no result
    ");
    insta::assert_snapshot!(why("{}", r#"{"a": {"lat": 1, "data": {"lat": 3}, "lon": 2}}"#), @"`lat`: ambiguous: a.lat, a.data.lat");
    insta::assert_snapshot!(why("{}", r#"{"a": {"lat": "north", "latitude": 1, "LON": {"deg": 1}}}"#), @"
    `lat`: not in the plan, and what the results have does not fit: a.lat
    `lon`: not in the plan, and what the results have does not fit: a.LON
    ");
    insta::assert_snapshot!(why("{}", r#"{"a": {"deep": {"lat": 1}, "list": [{"lat": 1}]}, "b": [1], "c": "text"}"#), @"
    `lat`: not in the plan, and in no result
    `lon`: not in the plan, and in no result
    ");
}

#[test]
fn a_guess_never_overrides_the_plan() {
    let results = r#"{"a": {"lat": 1, "lon": 2, "x": 5, "name": "wrong"}}"#;
    assert_eq!(
        parameters(r#"{"lat": 7, "lon": "{{a.x}}", "name": "mine"}"#, results),
        r#"{"lat":7,"lon":5,"name":"mine"}"#
    );
    assert_eq!(parameters(r#"{"LAT": 7, "lon": 8, "name": "mine"}"#, results), r#"{"lat":7,"lon":8,"name":"mine"}"#);
    // Not even where the reference leads nowhere.
    insta::assert_snapshot!(why(r#"{"lat": "{{a.y}}", "lon": 1}"#, results), @"`lat`: `a.y`: no such field (has: lat, lon, x, name)");
}

#[test]
fn an_optional_parameter_is_wired_on_its_exact_name_only() {
    let results = r#"{"a": {"lat": 1, "lon": 2, "name": "Tokyo", "user_id": "u"}}"#;
    assert_eq!(parameters("{}", results), r#"{"lat":1,"lon":2,"name":"Tokyo"}"#);
    let two = r#"{"a": {"lat": 1, "lon": 2, "name": "Tokyo"}, "b": {"name": "Seoul"}}"#;
    assert_eq!(parameters("{}", two), r#"{"lat":1,"lon":2}"#);
    let null = r#"{"a": {"lat": 1, "lon": 2, "name": null}}"#;
    assert_eq!(parameters("{}", null), r#"{"lat":1,"lon":2}"#);
}

#[test]
fn only_the_named_steps_are_wired_from_and_only_if_they_are_done() {
    let results = Results::new(r#"{"a": {"lat": 1, "lon": 2}, "b": {"lat": 3}}"#).failed("c");
    let none = reknit_bind::Parameters::parse(&object("{}"), &[]).expect("it parses");
    let from = ids(&["a", "a", "c", "nobody"]);
    let bound = bound(reknit_bind::bind(&none, &results, &from, Some(&schema(WEATHER))));
    let place = Path::root().key("lat");
    assert_eq!(bound.origin("lat"), Some(&Provenance::Wired { step: "a".into(), path: place }));
    let alone = unbound(reknit_bind::bind(&none, &results, &[], Some(&schema(WEATHER))));
    insta::assert_snapshot!(reasons(&alone), @"
    `lat`: not in the plan, and in no result
    `lon`: not in the plan, and in no result
    ");
}

#[test]
fn typical_answers_are_wired_to_typical_parameters() {
    for (case, parameter, kind, result, expected) in [
        ("the same name", "city", "string", r#"{"city": "Tokyo"}"#, Some(r#""Tokyo""#)),
        ("another case", "userId", "string", r#"{"USERID": "u1"}"#, Some(r#""u1""#)),
        ("a number as text", "lat", "number", r#"{"lat": "35.6897"}"#, Some("35.6897")),
        ("inside of data", "lat", "number", r#"{"success": true, "data": {"lat": 35.6897}}"#, Some("35.6897")),
        ("inside of response", "lat", "number", r#"{"response": {"lat": 35.6897}}"#, Some("35.6897")),
        ("a currency", "currency", "string", r#"{"country": "KR", "currency": "KRW"}"#, Some(r#""KRW""#)),
        ("one for yes", "verbose", "boolean", r#"{"verbose": "1"}"#, Some("true")),
        // A name that only means the same is no match: that is for somebody who understands it.
        ("a longer name", "lat", "number", r#"{"latitude": 35.6897}"#, None),
        ("part of a name", "city", "string", r#"{"city_name": "Tokyo"}"#, None),
        ("a code and a name", "country", "string", r#"{"country": {"code": "JP", "name": "Japan"}}"#, None),
        ("a loss", "days", "integer", r#"{"days": 42.7}"#, None),
        ("null", "city", "string", r#"{"city": null}"#, None),
    ] {
        let under = schema(&format!(
            r#"{{"required": ["{parameter}"], "properties": {{"{parameter}": {{"type": "{kind}"}}}}}}"#
        ));
        let results = Results::new(&format!(r#"{{"a": {result}}}"#));
        let wired = match bound_to("{}", &results, Some(&under)) {
            reknit_bind::Binding::Bound(bound) => bound.parameters.get(parameter).map(ToString::to_string),
            _ => None,
        };
        assert_eq!(wired.as_deref(), expected, "case: {case}");
    }
}
