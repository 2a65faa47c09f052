//! Lookup of references.

use reknit_bind::Provenance;
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

#[test]
fn a_path_that_starts_with_an_envelope_key_uses_that_envelope() {
    let results = Results::new(r#"{"a": {"data": {"id": 1, "data": {"id": 2}}}}"#);
    let bound = bound(bind_json(r#"{"x": "{{a.data.id}}", "y": "{{a.data.data.id}}"}"#, &results, None));
    assert_eq!(bound.parameters.to_string(), r#"{"x":1,"y":2}"#);
}
