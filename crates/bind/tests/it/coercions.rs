//! Values that are nearly of the wanted kind: which become it, and which stay what they are.

use crate::kit::{Results, bound, bound_to, json, misfit, schema};
use reknit_bind::{Binding, Corrected, correct};
use reknit_protocol::{Object, Value};
use reknit_salvage::Schema;

/// What a value becomes under a type; `None` if it does not fit and is not sent.
const CASES: &[(&str, &str, Option<&str>)] = &[
    ("number", r#""35.6897""#, Some("35.6897")),
    ("number", r#""139.6917""#, Some("139.6917")),
    ("number", r#""-73.9857""#, Some("-73.9857")),
    ("number", r#""0""#, Some("0")),
    ("integer", r#""42""#, Some("42")),
    ("integer", r#""-100""#, Some("-100")),
    ("integer", r#""9999999999""#, Some("9999999999")),
    ("integer", r#""5.0""#, Some("5")),
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
    // What cannot be had without a loss is not had at all.
    ("number", r#""not-a-number""#, None),
    ("integer", r#""12.5""#, None),
    ("integer", "42.7", None),
    ("boolean", r#""maybe""#, None),
    ("number", r#""""#, None),
    ("number", "null", None),
    ("number", "[]", None),
    ("number", "{}", None),
    ("string", r#"{"code": "JP", "name": "Japan"}"#, None),
    // No number of JSON is without end, and none is no number.
    ("number", r#""NaN""#, None),
    ("number", r#""Inf""#, None),
    ("number", r#""-Infinity""#, None),
    ("number", r#""1e""#, None),
];

fn under(kind: &str) -> Schema {
    schema(&format!(r#"{{"required": ["p"], "properties": {{"p": {{"type": "{kind}"}}}}}}"#))
}

fn sent(binding: Binding) -> Option<String> {
    match binding {
        Binding::Bound(bound) => bound.parameters.get("p").map(Value::to_string),
        Binding::Misfit { .. } | Binding::Unbound { .. } => None,
    }
}

#[test]
fn a_value_becomes_what_the_schema_wants_where_nothing_is_lost() {
    for (kind, value, expected) in CASES {
        // A null that the plan itself says is none that fits.
        let plan = format!(r#"{{"p": {value}}}"#);
        let literal = sent(bound_to(&plan, &Results::default(), Some(&under(kind))));
        assert_eq!(literal.as_deref(), *expected, "case: {value} as {kind}");
    }
}

#[test]
fn the_way_a_value_comes_does_not_change_what_becomes_of_it() {
    for (kind, value, expected) in CASES {
        let results = Results::new(&format!(r#"{{"a": {{"p": {value}, "data": {{"q": {value}}}}}}}"#));
        let ways = [
            ("reference", sent(bound_to(r#"{"p": "{{a.p}}"}"#, &results, Some(&under(kind))))),
            ("expression", sent(bound_to(r#"{"p": "{{if(true, a.q, 0)}}"}"#, &results, Some(&under(kind))))),
            ("wiring", sent(bound_to("{}", &results, Some(&under(kind))))),
            ("correction", corrected(value, kind)),
        ];
        for (way, became) in ways {
            assert_eq!(became.as_deref(), *expected, "case: {value} as {kind} by {way}");
        }
    }
}

fn corrected(value: &str, kind: &str) -> Option<String> {
    let correction = Object::from([("p", json(value))]);
    match correct(&Object::new(), &correction, &Results::default(), &[], Some(&under(kind)), "rung") {
        Ok(Corrected::Changed(bound)) => bound.parameters.get("p").map(Value::to_string),
        Ok(Corrected::Unchanged) | Err(_) => None,
    }
}

#[test]
fn every_coercion_is_recorded_and_nothing_else_is() {
    let under = schema(
        r#"{"properties": {"lat": {"type": "number"}, "lon": {"type": "number"}, "days": {"type": "integer"},
            "city": {"type": "string"}, "on": {"type": "boolean"}}}"#,
    );
    let plan = r#"{"lat": "35.6897", "lon": 139.6917, "days": "3", "city": "Tokyo", "on": "true", "other": "7"}"#;
    let bound = bound(bound_to(plan, &Results::default(), Some(&under)));
    assert_eq!(
        bound.parameters.to_string(),
        r#"{"lat":35.6897,"lon":139.6917,"days":3,"city":"Tokyo","on":true,"other":"7"}"#
    );
    let changed: Vec<String> = bound.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(changed, ["$.lat", "$.days", "$.on"]);
    for (plan, under) in [("{}", "{}"), (r#"{"lat": "35.6897"}"#, r#"{"properties": {}}"#)] {
        let bound = crate::kit::bound(bound_to(plan, &Results::default(), Some(&schema(under))));
        assert_eq!(Value::Object(bound.parameters), json(plan));
        assert!(bound.changes.is_empty());
    }
}

#[test]
fn a_misfit_names_the_parameter_and_what_was_found() {
    let problems = misfit(bound_to(r#"{"p": "abc"}"#, &Results::default(), Some(&under("number"))));
    assert_eq!(problems[0].to_string(), r#"`$.p`: expected a number, found the string "abc""#);
}
