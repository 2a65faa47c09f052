//! What went wrong in systems like this one, and must not here.

use reknit_bind::{Provenance, project_results};

use crate::kit::{Results, bound, bound_to, ids, reasons, schema, unbound};

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

#[test]
fn each_of_many_results_can_be_seen_by_who_looks_for_a_value() {
    let results = Results::new(
        r#"{"a": {"success": true, "data": {"x": 1}}, "b": {"success": true, "data": {"y": 2}}, "c": [3]}"#,
    );
    let shown = project_results(&results, &results.ids(), 10_000, &[]);
    assert_eq!(
        shown.to_string(),
        r#"{"a":{"success":true,"data":{"x":1}},"b":{"success":true,"data":{"y":2}},"c":[3]}"#
    );
}

#[test]
fn items_whole_answers_and_nulls_can_be_meant() {
    let results = Results::new(r#"{"a": {"items": [{"id": 7}], "none": null}}"#);
    for (template, expected) in [
        ("{{a.response.items[0].id}}", "7"),
        ("{{ a.items.0.id }}", "7"),
        ("{{a.response}}", r#"{"items":[{"id":7}],"none":null}"#),
        ("{{a.none}}", "null"),
        ("{{a.none ?? 1}}", "1"),
        ("{{a.missing ?? 2}}", "2"),
    ] {
        let bound = bound(bound_to(&format!(r#"{{"p": "{template}"}}"#), &results, None));
        assert_eq!(bound.parameters.get("p").map(ToString::to_string).as_deref(), Some(expected), "case: {template}");
    }
    // Missing is not null.
    assert_eq!(
        reasons(&unbound(bound_to(r#"{"p": "{{a.missing}}"}"#, &results, None))),
        "`p`: `a.missing`: no such field (has: items, none)"
    );
}

#[test]
fn an_optional_parameter_is_filled_only_by_its_very_name_and_only_without_doubt() {
    let under = schema(
        r#"{"properties": {"limit": {"type": "integer"}, "user_id": {"type": "string"}, "data": {"type": "string"}}}"#,
    );
    for (case, results, expected) in [
        ("two have it", r#"{"a": {"limit": 1}, "b": {"limit": 2}}"#, "{}"),
        ("another spelling", r#"{"a": {"userId": "u"}}"#, "{}"),
        ("another kind", r#"{"a": {"data": {"limit": "many"}}}"#, "{}"),
        ("the very name", r#"{"a": {"limit": 5}}"#, r#"{"limit":5}"#),
    ] {
        let bound = bound(bound_to("{}", &Results::new(results), Some(&under)));
        assert_eq!(bound.parameters.to_string(), expected, "case: {case}");
    }
}

#[test]
fn what_the_plan_gives_needs_nobody_to_look_for_it() {
    let under = schema(
        r#"{"required": ["amount", "to"], "properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}"#,
    );
    let results = Results::new(r#"{"a": {"price": 5}}"#);
    let bound = bound(bound_to(r#"{"amount": "{{a.price}}", "to": "KRW"}"#, &results, Some(&under)));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":5,"to":"KRW"}"#);
}

#[test]
fn references_inside_lists_and_objects_keep_their_types() {
    let results = Results::new(r#"{"a": {"n": 5, "on": true}}"#);
    let plan = r#"{"filter": {"min": "{{a.n}}", "flags": ["{{a.on}}", {"deep": "{{a.n}}"}]}}"#;
    assert_eq!(
        bound(bound_to(plan, &results, None)).parameters.to_string(),
        r#"{"filter":{"min":5,"flags":[true,{"deep":5}]}}"#
    );
}

#[test]
fn an_example_or_a_default_is_never_sent_as_a_value() {
    let under = schema(
        r#"{"required": ["city"], "properties": {"city": {"type": "string", "examples": ["London"], "default": "London"}}}"#,
    );
    let unbound = unbound(bound_to("{}", &Results::default(), Some(&under)));
    assert_eq!(reasons(&unbound), "`city`: not in the plan, and in no result");
}

#[test]
fn what_is_shown_of_results_has_bounds_whatever_they_are() {
    let long = "x".repeat(300_000);
    let results = Results::new(&format!(
        r#"{{"a": {{"text": "{long}"}}, "b": {{"list": ["{long}", "{long}"]}}, "c": {{"id": 7}}}}"#
    ));
    let shown = project_results(&results, &ids(&["a", "b", "c"]), 4_000, &["id"]);
    assert!(shown.to_string().len() <= 4_000);
    assert_eq!(shown.get("c").map(ToString::to_string).as_deref(), Some(r#"{"id":7}"#));
}
