//! What went wrong in systems like this one, and must not here.

use reknit_bind::Provenance;

use crate::kit::{Results, bound, bound_to, reasons, schema, unbound};

#[test]
fn an_explicit_reference_beats_a_value_of_the_same_name() {
    let under = schema(r#"{"required": ["lat"], "properties": {"lat": {"type": "number"}}}"#);
    let results = Results::new(r#"{"destination": {"lat": 1}, "origin": {"lat": 2}}"#);
    let bound = bound(bound_to(r#"{"lat": "{{origin.response.lat}}"}"#, &results, Some(&under)));
    assert_eq!(bound.parameters.to_string(), r#"{"lat":2}"#);
}

#[test]
fn envelopes_of_two_steps_do_not_cover_each_other() {
    let results =
        Results::new(r#"{"a": {"success": true, "data": {"x": 1}}, "b": {"success": true, "data": {"y": 2}}}"#);
    let bound = bound(bound_to(r#"{"x": "{{a.data.x}}", "y": "{{b.y}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"x":1,"y":2}"#);
}

#[test]
fn nothing_becomes_zero_because_it_cannot_be_read() {
    let under = schema(r#"{"required": ["amount"], "properties": {"amount": {"type": "number"}}}"#);
    for body in [r#"{"amount": "unknown"}"#, r#"{"amount": null}"#, r#"{"amount": {"v": 1}}"#, r#"{"amount": "NaN"}"#] {
        let results = Results::new(&format!(r#"{{"a": {body}}}"#));
        let unbound = unbound(bound_to("{}", &results, Some(&under)));
        assert_eq!(reasons(&unbound), "`amount`: not in the plan, and what the results have does not fit: a.amount");
    }
}

#[test]
fn lists_and_objects_keep_their_type() {
    let results = Results::new(r#"{"a": {"list": [1, 2], "object": {"k": 1}}}"#);
    let bound = bound(bound_to(r#"{"l": "{{a.list}}", "o": "{{a.object}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"l":[1,2],"o":{"k":1}}"#);
}

#[test]
fn numbers_in_texts_print_as_written() {
    let results = Results::new(r#"{"a": {"big": 1000000, "id": 12345678901234567890, "p": 1.10}}"#);
    let bound = bound(bound_to(r#"{"t": "{{a.big}} {{a.id}} {{a.p}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"t":"1000000 12345678901234567890 1.10"}"#);
}

#[test]
fn an_unresolved_reference_is_never_sent() {
    let results = Results::new(r#"{"a": {"x": 1}}"#);
    let unbound = unbound(bound_to(r#"{"deep": [{"v": "{{a.y}}"}], "fine": "{{a.x}}"}"#, &results, None));
    assert_eq!(reasons(&unbound), "`deep`: `a.y`: no such field (has: x)");
}

#[test]
fn an_object_is_not_turned_into_one_of_its_fields() {
    let under = schema(r#"{"required": ["country"], "properties": {"country": {"type": "string"}}}"#);
    let results = Results::new(r#"{"a": {"country": {"code": "JP", "name": "Japan"}}}"#);
    assert_eq!(
        reasons(&unbound(bound_to("{}", &results, Some(&under)))),
        "`country`: not in the plan, and what the results have does not fit: a.country"
    );
    let bound = bound(bound_to(r#"{"country": "{{a.country.name}}"}"#, &results, Some(&under)));
    assert!(matches!(bound.origin("country"), Some(Provenance::Reference { .. })));
}
