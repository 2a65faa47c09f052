//! Lookup of references.

use reknit_expressions::Provenance;
use reknit_protocol::Path;

use crate::support::{Results, bind_json, bound, reasons, unbound};

fn results() -> Results {
    Results::new(
        r#"{
        "step-1": {"price": 468.2850, "items": [{"id": 7, "tags": ["a", "b"]}, {"id": 8}], "odd key": 1, "a-b": 2,
                   "big": 12345678901234567890123, "long": 0.123456789012345678901234567890, "none": null, "0": "zero"},
        "step-10": {"price": 10},
        "geo": {"success": true, "data": {"lat": 35.5, "lon": 139.7, "success": false, "same": 1}, "same": 1},
        "list": [[1, 2], [3]],
        "text": "hello",
        "odd id": {"x": "odd"},
        "get.user": {"name": "Ada"},
        "get": {"user": {"name": "Bob"}},
        "1": {"price": 1},
        "été": {"ß": "ok"}
    }"#,
    )
}

fn value_of(template: &str) -> String {
    let parameters = format!(r#"{{"p": {}}}"#, reknit_protocol::Value::from(template));
    bound(bind_json(&parameters, &results(), None)).parameters.get("p").expect("`p` is bound").to_string()
}

#[test]
fn a_reference_gives_the_value_with_its_type_and_all_its_digits() {
    for (template, expected) in [
        ("{{step-1.price}}", "468.2850"),
        ("{{step-1.response.price}}", "468.2850"),
        ("{{step-1.result.price}}", "468.2850"),
        ("{{ step-1.price }}", "468.2850"),
        ("{{step-10.price}}", "10"),
        ("{{step-1.items[0].id}}", "7"),
        ("{{step-1.items.0.id}}", "7"),
        ("{{step-1.items[ 1 ].id}}", "8"),
        ("{{step-1.items[0].tags}}", r#"["a","b"]"#),
        ("{{step-1.items[1]}}", r#"{"id":8}"#),
        (r#"{{step-1["odd key"]}}"#, "1"),
        ("{{step-1['odd key']}}", "1"),
        ("{{step-1.a-b}}", "2"),
        ("{{step-1.0}}", r#""zero""#),
        ("{{step-1.big}}", "12345678901234567890123"),
        ("{{step-1.long}}", "0.123456789012345678901234567890"),
        ("{{step-1.none}}", "null"),
        ("{{geo.lat}}", "35.5"),
        ("{{geo.data.lat}}", "35.5"),
        ("{{geo.response.lat}}", "35.5"),
        ("{{geo.response.data.lat}}", "35.5"),
        ("{{geo.same}}", "1"),
        ("{{list}}", "[[1,2],[3]]"),
        ("{{list[0][1]}}", "2"),
        ("{{list.1.0}}", "3"),
        ("{{list.response[1]}}", "[3]"),
        ("{{text}}", r#""hello""#),
        ("{{text.response}}", r#""hello""#),
        (r#"{{["odd id"].x}}"#, r#""odd""#),
        ("{{odd id}}", r#"{"x":"odd"}"#),
        ("{{get.user.name}}", r#""Ada""#),
        (r#"{{["get"].user.name}}"#, r#""Bob""#),
        (r#"{{get["user"].name}}"#, r#""Bob""#),
        ("{{1.price}}", "1"),
        ("{{1}}", r#"{"price":1}"#),
        ("{{été.ß}}", r#""ok""#),
    ] {
        assert_eq!(value_of(template), expected, "case: {template}");
    }
}

#[test]
fn the_provenance_is_the_path_in_the_body() {
    let bound = bound(bind_json(r#"{"lat": "{{geo.response.lat}}", "id": "{{step-1.items.0.id}}"}"#, &results(), None));
    let at = |step: &str, path: Path| Provenance::Reference { step: step.into(), path };
    assert_eq!(bound.provenance_of("lat"), Some(&at("geo", Path::root().key("data").key("lat"))));
    assert_eq!(bound.provenance_of("id"), Some(&at("step-1", Path::root().key("items").index(0).key("id"))));
}

#[test]
fn a_failed_lookup_lists_what_is_available() {
    let results = results().failed("bad").skipped("left-out").pending("later");
    let plan = r#"{
        "field": "{{step-10.cost}}",
        "inside": "{{geo.latitude}}",
        "deeper": "{{geo.data.latitude}}",
        "item": "{{list[2]}}",
        "into text": "{{text.length}}",
        "by key": "{{list.first}}",
        "two": "{{geo.success}}",
        "failed": "{{bad.x}}",
        "skipped": "{{left-out.x}}",
        "pending": "{{later.x}}"
    }"#;
    insta::assert_snapshot!(reasons(&unbound(bind_json(plan, &results, None))), @"
    `field`: `step-10.cost` does not exist: available fields are `price`
    `inside`: `geo.latitude` does not exist: available fields are `success`, `data`, `same`, `data.lat`, `data.lon`, `data.success`, `data.same`
    `deeper`: `geo.data.latitude` does not exist: available fields are `lat`, `lon`, `success`, `same`
    `item`: `list[2]` does not exist: the array has 2 items
    `into text`: `text.length` does not exist: a string has no fields
    `by key`: `list.first` does not exist: the array has 2 items
    `two`: more than one value matches: `geo.success`, `geo.data.success`
    `failed`: step `bad` failed and has no result
    `skipped`: step `left-out` was skipped and has no result
    `pending`: step `later` has not finished
    ");
}

/// The value of a template over one result, or the reason why there is none.
fn value_in(body: &str, announced: &str, template: &str) -> String {
    let results = Results::new(&format!(r#"{{"a": {body}}}"#));
    let results = if announced.is_empty() { results } else { results.announce("a", announced) };
    let parameters = format!(r#"{{"p": {}}}"#, reknit_protocol::Value::from(template));
    match bind_json(&parameters, &results, None) {
        reknit_expressions::Binding::Bound(bound) => bound.parameters.get("p").expect("`p` is bound").to_string(),
        other => reasons(&unbound(other)),
    }
}

#[test]
fn a_reference_may_call_the_whole_result_output_outputs_result_or_response() {
    for layer in ["output", "outputs", "result", "response", "data", "output.data", "outputs.result"] {
        for body in [r#"{"id": 5}"#, r#"{"success": true, "data": {"id": 5}}"#, r#"{"result": {"id": 5}}"#] {
            assert_eq!(value_in(body, "", &format!("{{{{a.{layer}.id}}}}")), "5", "{layer} in {body}");
        }
    }
}

#[test]
fn a_reference_is_looked_up_in_the_announced_result_first() {
    let data = r#"{"required": ["data"], "properties": {"data": {"type": "object"}}}"#;
    let id = r#"{"required": ["id"], "properties": {"id": {"type": "number"}}}"#;
    let nested = r#"{"success": true, "data": {"id": 1, "data": {"id": 2}}}"#;
    assert_eq!(value_in(nested, id, "{{a.data.id}}"), "1");
    assert_eq!(value_in(nested, id, "{{a.id}}"), "1");
    assert!(value_in(nested, data, "{{a.data.id}}").contains("more than one value"), "both places have the field");
    let only = r#"{"success": true, "data": {"data": {"id": 2}}}"#;
    assert_eq!(value_in(only, data, "{{a.data.id}}"), "2");
    assert_eq!(value_in(only, "", "{{a.data.id}}"), "2");
}

#[test]
fn two_readings_of_an_envelope_are_ambiguous() {
    let nested = r#"{"data": {"id": 1, "data": {"id": 2}}}"#;
    assert_eq!(
        value_in(nested, "", "{{a.data.id}}"),
        "`p`: more than one value matches: `a.data.id`, `a.data.data.id`"
    );
}

#[test]
fn an_announced_field_that_is_missing_is_not_taken_for_the_whole_result() {
    let announced = r#"{"properties": {"output": {"type": "object"}, "price": {"type": "number"}}}"#;
    let reason = value_in(r#"{"price": 9}"#, announced, "{{a.output.price}}");
    assert!(reason.contains("does not exist"), "{reason}");
}

#[test]
fn the_error_of_a_key_with_spaces_says_how_to_write_it() {
    let error = reknit_expressions::Expression::parse("a.Exchange Rate * 2", &["a".into()])
        .map(|_| ())
        .map_err(|error| error.to_string());
    assert_eq!(error, Err("character 12: expected an operator or the end of the expression, found `R`".to_owned()));
    let error =
        reknit_expressions::Expression::parse("a.x.Exchange Rate", &["a".into()]).map_err(|error| error.to_string());
    let expected = r#"character 14: a field name with spaces is written in brackets: `a.x["Exchange Rate"]`"#;
    assert_eq!(error.map(|_| ()), Err(expected.to_owned()));
}
