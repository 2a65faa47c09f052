//! Autowiring of parameters that the plan omits.

use reknit_expressions::Provenance;
use reknit_protocol::Path;

use crate::support::{Results, bind_json, bound, ids, object, reasons, schema, unbound};

const WEATHER: &str = r#"{"type": "object", "required": ["lat", "lon"], "additionalProperties": false, "properties": {
    "lat": {"type": "number"}, "lon": {"type": "number"}, "userId": {"type": "string"}, "name": {"type": "string"}}}"#;

fn wired(plan: &str, results: &str) -> String {
    bound(bind_json(plan, &Results::new(results), Some(&schema(WEATHER)))).parameters.to_string()
}

fn unbound_reasons(plan: &str, results: &str) -> String {
    reasons(&unbound(bind_json(plan, &Results::new(results), Some(&schema(WEATHER)))))
}

#[test]
fn a_required_parameter_is_wired_from_the_only_result_that_has_it() {
    for (case, results) in [
        ("in the body", r#"{"a": {"lat": 1, "lon": 2}}"#),
        ("in an envelope", r#"{"a": {"success": true, "data": {"lat": 1, "lon": 2}}}"#),
        ("repeated with the same value", r#"{"a": {"lat": 1, "lon": 2, "data": {"lat": 1, "lon": 2}}}"#),
        ("as a string", r#"{"a": {"lat": "1", "lon": "2"}}"#),
        ("another spelling", r#"{"a": {"LAT": 1, "L-on": 2}}"#),
        ("next to a value that does not fit", r#"{"a": {"lat": 1, "lon": 2}, "b": {"lat": "north"}}"#),
        ("the exact name wins over another spelling", r#"{"a": {"lat": 1, "lon": 2}, "b": {"LAT": 9}}"#),
    ] {
        assert_eq!(wired("{}", results), r#"{"lat":1,"lon":2}"#, "case: {case}");
    }
}

#[test]
fn an_ambiguous_or_unfitting_value_is_not_wired() {
    insta::assert_snapshot!(unbound_reasons("{}", r#"{"a": {"lat": 1}, "b": {"lat": 2}}"#), @"
    `lat`: more than one value matches: `a.lat`, `b.lat`
    `lon`: not set in the plan, and no earlier result has a field of this name
    ");
    insta::assert_snapshot!(unbound_reasons("{}", r#"{"a": {"lat": 1, "data": {"lat": 3}, "lon": 2}}"#), @"
    `lat`: more than one value matches: `a.lat`, `a.data.lat`
    `lon`: not set in the plan; `a.lon` has this name, but `lat`, which belongs to it, is not from the same place
    ");
    insta::assert_snapshot!(unbound_reasons("{}", r#"{"a": {"lat": "north", "latitude": 1, "LON": {"deg": 1}}}"#), @"
    `lat`: not set in the plan, and the values in earlier results do not fit the schema: `a.lat`
    `lon`: not set in the plan, and the values in earlier results do not fit the schema: `a.LON`
    ");
    insta::assert_snapshot!(unbound_reasons("{}", r#"{"a": {"deep": {"lat": 1}, "list": [{"lat": 1}]}, "b": [1], "c": "text"}"#), @"
    `lat`: not set in the plan, and no earlier result has a field of this name
    `lon`: not set in the plan, and no earlier result has a field of this name
    ");
}

#[test]
fn a_name_that_many_objects_have_is_not_wired() {
    for name in ["id", "ID", "name", "type", "key", "code", "value", "status", "date", "amount"] {
        let schema = schema(&format!(r#"{{"required": ["{name}"], "properties": {{"{name}": {{}}}}}}"#));
        let results = Results::new(&format!(r#"{{"customer": {{"{name}": 991}}}}"#));
        let reasons = reasons(&unbound(bind_json("{}", &results, Some(&schema))));
        assert!(reasons.contains(&format!("which value is meant: `customer.{name}`")), "{reasons}");
    }
    let order = schema(r#"{"required": ["order_id"], "properties": {"order_id": {}}}"#);
    let results = Results::new(r#"{"order": {"id": 7, "order_id": 8}}"#);
    assert_eq!(bound(bind_json("{}", &results, Some(&order))).parameters.to_string(), r#"{"order_id":8}"#);
}

#[test]
fn parameters_that_belong_together_come_from_one_object_or_not_at_all() {
    insta::assert_snapshot!(unbound_reasons("{}", r#"{"a": {"lat": 1}, "b": {"lon": 2}}"#), @"
    `lat`: not set in the plan; `a.lat` has this name, but `lon`, which belongs to it, is not from the same place
    `lon`: not set in the plan; `b.lon` has this name, but `lat`, which belongs to it, is not from the same place
    ");
    // One of the two is ambiguous, so the other one alone could be that of another place.
    insta::assert_snapshot!(unbound_reasons("{}", r#"{"a": {"lat": 1, "lon": 2}, "b": {"lat": 3}}"#), @"
    `lat`: more than one value matches: `a.lat`, `b.lat`
    `lon`: not set in the plan; `a.lon` has this name, but `lat`, which belongs to it, is not from the same place
    ");
    let results = r#"{"a": {"lat": 1, "lon": 2}, "b": {"lat": 3}}"#;
    assert_eq!(wired(r#"{"lat": "{{a.lat}}"}"#, results), r#"{"lat":1,"lon":2}"#);
    for given in [r#"{"lat": "{{b.lat}}"}"#, r#"{"lat": 7}"#] {
        let reasons = unbound_reasons(given, results);
        assert!(reasons.starts_with("`lon`: not set in the plan; `a.lon` has this name"), "{given}: {reasons}");
    }
}

#[test]
fn wiring_never_overrides_the_plan() {
    let results = r#"{"a": {"lat": 1, "lon": 2, "x": 5, "name": "wrong"}}"#;
    assert_eq!(wired(r#"{"lat": 7, "lon": "{{a.x}}", "name": "mine"}"#, results), r#"{"lat":7,"lon":5,"name":"mine"}"#);
    assert_eq!(wired(r#"{"LAT": 7, "lon": 8, "name": "mine"}"#, results), r#"{"lat":7,"lon":8,"name":"mine"}"#);
    // A reference that cannot be resolved is not overridden either.
    insta::assert_snapshot!(unbound_reasons(r#"{"lat": "{{a.y}}", "lon": 1}"#, results), @"`lat`: `a.y` does not exist: available fields are `lat`, `lon`, `x`, `name`");
}

#[test]
fn an_optional_parameter_is_not_wired_by_its_name_alone() {
    let results = r#"{"a": {"lat": 1, "lon": 2, "name": "Tokyo", "user_id": "u"}}"#;
    assert_eq!(wired("{}", results), r#"{"lat":1,"lon":2}"#);
}

#[test]
fn only_finished_steps_of_wire_from_are_used() {
    let results = Results::new(r#"{"a": {"lat": 1, "lon": 2}, "b": {"lat": 3}}"#).failed("c");
    let none = reknit_expressions::Parameters::parse(&object("{}"), &[]).expect("valid templates");
    let from = ids(&["a", "a", "c", "unknown"]);
    let bound = bound(reknit_expressions::bind(&none, &results, &from, Some(&schema(WEATHER))));
    let place = Path::root().key("lat");
    assert_eq!(bound.provenance_of("lat"), Some(&Provenance::Wired { step: "a".into(), path: place }));
    let without_steps = unbound(reknit_expressions::bind(&none, &results, &[], Some(&schema(WEATHER))));
    insta::assert_snapshot!(reasons(&without_steps), @"
    `lat`: not set in the plan, and no earlier result has a field of this name
    `lon`: not set in the plan, and no earlier result has a field of this name
    ");
}

#[test]
fn typical_results_are_wired_to_typical_parameters() {
    for (case, parameter, kind, result, expected) in [
        ("the same name", "city", "string", r#"{"city": "Tokyo"}"#, Some(r#""Tokyo""#)),
        ("another case", "userId", "string", r#"{"USERID": "u1"}"#, Some(r#""u1""#)),
        ("a number as a string", "lat", "number", r#"{"lat": "35.6897"}"#, Some("35.6897")),
        ("inside data", "lat", "number", r#"{"success": true, "data": {"lat": 35.6897}}"#, Some("35.6897")),
        ("inside response", "lat", "number", r#"{"response": {"lat": 35.6897}}"#, Some("35.6897")),
        ("a currency", "currency", "string", r#"{"country": "KR", "currency": "KRW"}"#, Some(r#""KRW""#)),
        ("a boolean as a string", "verbose", "boolean", r#"{"verbose": "1"}"#, Some("true")),
        // A different name with the same meaning does not match; a model decides those.
        ("a longer name", "lat", "number", r#"{"latitude": 35.6897}"#, None),
        ("part of a name", "city", "string", r#"{"city_name": "Tokyo"}"#, None),
        ("an object for a string", "country", "string", r#"{"country": {"code": "JP", "name": "Japan"}}"#, None),
        ("a lossy conversion", "days", "integer", r#"{"days": 42.7}"#, None),
        ("null", "city", "string", r#"{"city": null}"#, None),
    ] {
        let schema = schema(&format!(
            r#"{{"required": ["{parameter}"], "properties": {{"{parameter}": {{"type": "{kind}"}}}}}}"#
        ));
        let results = Results::new(&format!(r#"{{"a": {result}}}"#));
        let wired = match bind_json("{}", &results, Some(&schema)) {
            reknit_expressions::Binding::Bound(bound) => bound.parameters.get(parameter).map(ToString::to_string),
            _ => None,
        };
        assert_eq!(wired.as_deref(), expected, "case: {case}");
    }
}

#[test]
fn a_layer_around_the_parameters_is_removed_and_each_of_them_keeps_its_provenance() {
    let schema = schema(
        r#"{"required": ["lat", "place"], "additionalProperties": false,
            "properties": {"lat": {"type": "number"}, "place": {"type": "string"}}}"#,
    );
    let results = Results::new(r#"{"a": {"lat": 1, "place": "Ulm"}}"#);
    let plan = r#"{"arguments": {"lat": "{{a.lat}}", "place": "Bonn"}}"#;
    let reknit_expressions::Binding::Bound(bound) = bind_json(plan, &results, Some(&schema)) else {
        panic!("it is bound")
    };
    assert_eq!(bound.parameters.to_string(), r#"{"lat":1,"place":"Bonn"}"#, "nothing is wired over it");
    assert!(matches!(bound.provenance_of("lat"), Some(Provenance::Reference { .. })), "{:?}", bound.provenance);
    assert_eq!(bound.provenance_of("place"), Some(&Provenance::Literal));
    assert!(bound.changes.iter().any(|change| change.kind == "envelope"), "{:?}", bound.changes);
}
