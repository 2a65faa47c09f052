//! Which values are coerced to the type of the schema, and which are rejected.

use crate::support::{Results, bind_json, bound, json, misfit, schema};
use reknit_expressions::{Binding, CorrectionOutcome, apply_correction};
use reknit_protocol::{Object, Value};
use reknit_salvage::Schema;

/// A schema type, a value, and the coerced value; `None` if the value is rejected.
const CASES: &[(&str, &str, Option<&str>)] = &[
    ("number", r#""35.6897""#, Some("35.6897")),
    ("number", r#""139.6917""#, Some("139.6917")),
    ("number", r#""-73.9857""#, Some("-73.9857")),
    ("number", r#""0""#, Some("0")),
    ("integer", r#""42""#, Some("42")),
    ("integer", r#""-100""#, Some("-100")),
    ("integer", r#""9999999999""#, Some("9999999999")),
    ("integer", r#""5.0""#, Some("5")),
    ("integer", "5.0", Some("5")),
    ("integer", "1e3", Some("1000")),
    ("number", "5.0", Some("5.0")),
    ("string", r#""007""#, Some(r#""007""#)),
    ("boolean", r#""true""#, Some("true")),
    ("boolean", r#""false""#, Some("false")),
    ("boolean", r#""1""#, Some("true")),
    ("boolean", r#""0""#, Some("false")),
    ("boolean", r#""yes""#, Some("true")),
    ("number", "35.6897", Some("35.6897")),
    ("integer", "42", Some("42")),
    ("boolean", "true", Some("true")),
    ("string", r#""hello""#, Some(r#""hello""#)),
    ("string", r#""42""#, Some(r#""42""#)),
    ("string", "42", Some(r#""42""#)),
    ("array", r#""[1, 2]""#, Some("[1,2]")),
    // Lossy coercions are rejected.
    ("number", r#""not-a-number""#, None),
    ("integer", r#""12.5""#, None),
    ("integer", "42.7", None),
    ("boolean", r#""maybe""#, None),
    ("number", r#""""#, None),
    ("number", "null", None),
    ("number", "[]", None),
    ("number", "{}", None),
    ("string", r#"{"code": "JP", "name": "Japan"}"#, None),
    // JSON has neither infinity nor NaN.
    ("number", r#""NaN""#, None),
    ("number", r#""Inf""#, None),
    ("number", r#""-Infinity""#, None),
    ("number", r#""1e""#, None),
];

fn schema_for(kind: &str) -> Schema {
    schema(&format!(r#"{{"required": ["p"], "properties": {{"p": {{"type": "{kind}"}}}}}}"#))
}

fn sent(binding: Binding) -> Option<String> {
    match binding {
        Binding::Bound(bound) => bound.parameters.get("p").map(Value::to_string),
        Binding::Misfit { .. } | Binding::Unbound { .. } => None,
    }
}

#[test]
fn a_literal_is_coerced_if_nothing_is_lost() {
    for (kind, value, expected) in CASES {
        let plan = format!(r#"{{"p": {value}}}"#);
        let literal = sent(bind_json(&plan, &Results::default(), Some(&schema_for(kind))));
        assert_eq!(literal.as_deref(), *expected, "case: {value} as {kind}");
    }
}

#[test]
fn the_coercion_does_not_depend_on_the_provenance() {
    for (kind, value, expected) in CASES {
        let results = Results::new(&format!(r#"{{"a": {{"p": {value}, "data": {{"q": {value}}}}}}}"#));
        let values = [
            ("reference", sent(bind_json(r#"{"p": "{{a.p}}"}"#, &results, Some(&schema_for(kind))))),
            ("expression", sent(bind_json(r#"{"p": "{{if(true, a.q, 0)}}"}"#, &results, Some(&schema_for(kind))))),
            ("wiring", sent(bind_json("{}", &results, Some(&schema_for(kind))))),
            ("correction", corrected(value, kind)),
        ];
        for (provenance, value_sent) in values {
            assert_eq!(value_sent.as_deref(), *expected, "case: {value} as {kind} by {provenance}");
        }
    }
}

fn corrected(value: &str, kind: &str) -> Option<String> {
    let correction = Object::from([("p", json(value))]);
    match apply_correction(&Object::new(), &correction, &Results::default(), &[], Some(&schema_for(kind)), "rung") {
        Ok(CorrectionOutcome::Changed(bound)) => bound.parameters.get("p").map(Value::to_string),
        Ok(CorrectionOutcome::Respelled(_) | CorrectionOutcome::Unchanged) | Err(_) => None,
    }
}

#[test]
fn exactly_the_coercions_are_recorded() {
    let weather = schema(
        r#"{"properties": {"lat": {"type": "number"}, "lon": {"type": "number"}, "days": {"type": "integer"},
            "city": {"type": "string"}, "on": {"type": "boolean"}}}"#,
    );
    let plan = r#"{"lat": "35.6897", "lon": 139.6917, "days": "3", "city": "Tokyo", "on": "true", "other": "7"}"#;
    let bound = bound(bind_json(plan, &Results::default(), Some(&weather)));
    assert_eq!(
        bound.parameters.to_string(),
        r#"{"lat":35.6897,"lon":139.6917,"days":3,"city":"Tokyo","on":true,"other":"7"}"#
    );
    let changed: Vec<String> = bound.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(changed, ["$.lat", "$.days", "$.on"]);
    for (plan, text) in [("{}", "{}"), (r#"{"lat": "35.6897"}"#, r#"{"properties": {}}"#)] {
        let bound = crate::support::bound(bind_json(plan, &Results::default(), Some(&schema(text))));
        assert_eq!(Value::Object(bound.parameters), json(plan));
        assert!(bound.changes.is_empty());
    }
}

#[test]
fn a_misfit_names_the_parameter_and_the_value() {
    let problems = misfit(bind_json(r#"{"p": "abc"}"#, &Results::default(), Some(&schema_for("number"))));
    assert_eq!(problems[0].to_string(), r#"`$.p`: expected a number, found the string "abc""#);
}

#[test]
fn an_integer_with_a_fraction_of_zero_is_respelled_wherever_the_schema_asks_for_an_integer() {
    let orders = schema(
        r#"{"properties": {"n": {"type": "integer"}, "price": {"type": "number"}, "any": {},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "either": {"type": ["integer", "string"]},
            "mixed": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"count": {"type": "integer"}}}},
            "nested": {"anyOf": [{"type": "object", "properties": {"k": {"type": "integer"}}}, {"type": "null"}]}}}"#,
    );
    let plan = r#"{"n": 5.0, "price": 5.0, "any": 5.0, "maybe": 2.0, "either": 1e2, "mixed": 3.0,
        "lines": [{"count": 1}, {"count": 2.0}], "nested": {"k": 4.0}}"#;
    let bound = bound(bind_json(plan, &Results::default(), Some(&orders)));
    assert_eq!(
        bound.parameters.to_string(),
        r#"{"n":5,"price":5.0,"any":5.0,"maybe":2,"either":100,"mixed":3.0,"lines":[{"count":1},{"count":2}],"nested":{"k":4}}"#
    );
    let changes: Vec<String> = bound
        .changes
        .iter()
        .map(|change| format!("{} {} {} -> {}", change.path, change.kind, change.before, change.after))
        .collect();
    assert_eq!(
        changes,
        [
            "$.n number_spelling 5.0 -> 5",
            "$.maybe number_spelling 2.0 -> 2",
            "$.either number_spelling 1e2 -> 100",
            "$.lines[1].count number_spelling 2.0 -> 2",
            "$.nested.k number_spelling 4.0 -> 4",
        ]
    );
}
