//! Mistakes that similar systems make.

use reknit_expressions::{Provenance, abridge_results};

use crate::support::{Results, bind_json, bound, ids, reasons, schema, unbound};

#[test]
fn an_explicit_reference_wins_over_a_field_of_the_same_name() {
    let schema = schema(r#"{"required": ["lat"], "properties": {"lat": {"type": "number"}}}"#);
    let results = Results::new(r#"{"destination": {"lat": 1}, "origin": {"lat": 2}}"#);
    let bound = bound(bind_json(r#"{"lat": "{{origin.response.lat}}"}"#, &results, Some(&schema)));
    assert_eq!(bound.parameters.to_string(), r#"{"lat":2}"#);
}

#[test]
fn envelopes_of_two_steps_do_not_shadow_each_other() {
    let results =
        Results::new(r#"{"a": {"success": true, "data": {"x": 1}}, "b": {"success": true, "data": {"y": 2}}}"#);
    let bound = bound(bind_json(r#"{"x": "{{a.data.x}}", "y": "{{b.y}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"x":1,"y":2}"#);
}

#[test]
fn an_invalid_number_never_becomes_zero() {
    let schema = schema(r#"{"required": ["weight"], "properties": {"weight": {"type": "number"}}}"#);
    for body in [r#"{"weight": "unknown"}"#, r#"{"weight": null}"#, r#"{"weight": {"v": 1}}"#, r#"{"weight": "NaN"}"#] {
        let results = Results::new(&format!(r#"{{"a": {body}}}"#));
        let unbound = unbound(bind_json("{}", &results, Some(&schema)));
        assert_eq!(
            reasons(&unbound),
            "`weight`: not set in the plan, and the values in earlier results do not fit the schema: `a.weight`"
        );
    }
}

#[test]
fn arrays_and_objects_keep_their_type() {
    let results = Results::new(r#"{"a": {"list": [1, 2], "object": {"k": 1}}}"#);
    let bound = bound(bind_json(r#"{"l": "{{a.list}}", "o": "{{a.object}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"l":[1,2],"o":{"k":1}}"#);
}

#[test]
fn numbers_in_strings_keep_their_spelling() {
    let results = Results::new(r#"{"a": {"big": 1000000, "id": 12345678901234567890, "p": 1.10}}"#);
    let bound = bound(bind_json(r#"{"t": "{{a.big}} {{a.id}} {{a.p}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"t":"1000000 12345678901234567890 1.10"}"#);
}

#[test]
fn an_unresolved_reference_is_never_sent() {
    let results = Results::new(r#"{"a": {"x": 1}}"#);
    let unbound = unbound(bind_json(r#"{"deep": [{"v": "{{a.y}}"}], "fine": "{{a.x}}"}"#, &results, None));
    assert_eq!(reasons(&unbound), "`deep`: `a.y` does not exist: available fields are `x`");
}

#[test]
fn an_object_is_not_replaced_with_one_of_its_fields() {
    let schema = schema(r#"{"required": ["country"], "properties": {"country": {"type": "string"}}}"#);
    let results = Results::new(r#"{"a": {"country": {"code": "JP", "name": "Japan"}}}"#);
    assert_eq!(
        reasons(&unbound(bind_json("{}", &results, Some(&schema)))),
        "`country`: not set in the plan, and the values in earlier results do not fit the schema: `a.country`"
    );
    let bound = bound(bind_json(r#"{"country": "{{a.country.name}}"}"#, &results, Some(&schema)));
    assert!(matches!(bound.provenance_of("country"), Some(Provenance::Reference { .. })));
}

#[test]
fn every_result_is_shown_to_a_model_that_locates_a_value() {
    let results = Results::new(
        r#"{"a": {"success": true, "data": {"x": 1}}, "b": {"success": true, "data": {"y": 2}}, "c": [3]}"#,
    );
    let shown = abridge_results(&results, &results.ids(), 10_000, &[]);
    assert_eq!(
        shown.to_string(),
        r#"{"a":{"success":true,"data":{"x":1}},"b":{"success":true,"data":{"y":2}},"c":[3]}"#
    );
}

#[test]
fn references_reach_items_whole_results_and_nulls() {
    let results = Results::new(r#"{"a": {"items": [{"id": 7}], "none": null}}"#);
    for (template, expected) in [
        ("{{a.response.items[0].id}}", "7"),
        ("{{ a.items.0.id }}", "7"),
        ("{{a.response}}", r#"{"items":[{"id":7}],"none":null}"#),
        ("{{a.none}}", "null"),
        ("{{a.none ?? 1}}", "1"),
        ("{{a.missing ?? 2}}", "2"),
    ] {
        let bound = bound(bind_json(&format!(r#"{{"p": "{template}"}}"#), &results, None));
        assert_eq!(bound.parameters.get("p").map(ToString::to_string).as_deref(), Some(expected), "case: {template}");
    }
    // Missing is not null.
    assert_eq!(
        reasons(&unbound(bind_json(r#"{"p": "{{a.missing}}"}"#, &results, None))),
        "`p`: `a.missing` does not exist: available fields are `items`, `none`"
    );
}

#[test]
fn parameters_that_the_plan_sets_are_not_wired() {
    let schema = schema(
        r#"{"required": ["amount", "to"], "properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}"#,
    );
    let results = Results::new(r#"{"a": {"price": 5}}"#);
    let bound = bound(bind_json(r#"{"amount": "{{a.price}}", "to": "KRW"}"#, &results, Some(&schema)));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":5,"to":"KRW"}"#);
}

#[test]
fn references_inside_arrays_and_objects_keep_their_types() {
    let results = Results::new(r#"{"a": {"n": 5, "on": true}}"#);
    let plan = r#"{"filter": {"min": "{{a.n}}", "flags": ["{{a.on}}", {"deep": "{{a.n}}"}]}}"#;
    assert_eq!(
        bound(bind_json(plan, &results, None)).parameters.to_string(),
        r#"{"filter":{"min":5,"flags":[true,{"deep":5}]}}"#
    );
}

#[test]
fn an_example_or_a_default_is_never_sent_as_a_value() {
    let schema = schema(
        r#"{"required": ["city"], "properties": {"city": {"type": "string", "examples": ["London"], "default": "London"}}}"#,
    );
    let unbound = unbound(bind_json("{}", &Results::default(), Some(&schema)));
    assert_eq!(reasons(&unbound), "`city`: not set in the plan, and no earlier result has a field of this name");
}

#[test]
fn abridged_results_stay_within_the_limit() {
    let long = "x".repeat(300_000);
    let results = Results::new(&format!(
        r#"{{"a": {{"text": "{long}"}}, "b": {{"list": ["{long}", "{long}"]}}, "c": {{"id": 7}}}}"#
    ));
    let shown = abridge_results(&results, &ids(&["a", "b", "c"]), 4_000, &["id"]);
    assert!(shown.to_string().len() <= 4_000);
    assert_eq!(shown.get("c").map(ToString::to_string).as_deref(), Some(r#"{"id":7}"#));
}
