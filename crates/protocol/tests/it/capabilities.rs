//! Capabilities as tools announce them, and the schemas of their field hints.

use crate::parse;
use reknit_protocol::schema::{AdditionalProperties, FieldHint, Summary};
use reknit_protocol::{Capability, SideEffect, Value};

fn read(text: &str) -> Capability {
    Capability::from_value(&parse(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

const CONVERT: &str = r#"{
  "name": "convert_currency",
  "description": "Converts an amount of money",
  "endpoint": "/convert",
  "input_types": ["json"],
  "output_types": ["json"],
  "input_summary": {
    "required": [
      { "name": "from", "type": "string", "example": "USD", "description": "ISO code" },
      { "name": "amount", "type": "float64", "example": "100.50" }
    ],
    "optional": [
      { "name": "date", "type": "Date", "example": "2025-11-15" },
      { "name": "tags", "type": "[]string", "example": "[\"a\"]" },
      { "name": "round", "type": "bool", "example": "true" }
    ]
  },
  "output_summary": { "required": [{ "name": "result", "type": "number" }] },
  "schema_endpoint": "/convert/schema.json",
  "internal": false,
  "effect": "read",
  "version": "1.20",
  "cost": 0.10
}"#;

#[test]
fn a_capability_is_read_and_written_without_loss() {
    let capability = read(CONVERT);
    assert_eq!(capability.name.as_str(), "convert_currency");
    assert_eq!(capability.effect, SideEffect::Read);
    assert_eq!(capability.to_value().to_string(), parse(CONVERT).to_string());
    for text in [
        r#"{"name":"a"}"#,
        r#"{"internal":true,"name":"a","description":""}"#,
        r#"{"name":"a","endpoint":null,"input_types":null,"output_types":[],"effect":"undeclared","input_summary":{"required":null}}"#,
    ] {
        assert_eq!(read(text).to_value().to_string(), text);
    }
}

#[test]
fn the_input_schema_is_built_from_the_hints_and_forbids_other_fields() {
    let expected = r#"{
      "type": "object",
      "properties": {
        "from": { "type": "string", "description": "ISO code", "examples": ["USD"] },
        "amount": { "type": "number", "examples": [100.50] },
        "date": { "x-type": "Date", "examples": ["2025-11-15"] },
        "tags": { "type": "array", "items": { "type": "string" }, "examples": [["a"]] },
        "round": { "type": "boolean", "examples": [true] }
      },
      "required": ["from", "amount"],
      "additionalProperties": false
    }"#;
    let schema = read(CONVERT).input_schema().expect("there are hints");
    assert_eq!(schema.to_pretty(), parse(expected).to_pretty(), "order and digits are the same, too");
}

#[test]
fn the_output_schema_allows_other_fields() {
    let schema = read(CONVERT).output_schema().expect("there are hints");
    assert_eq!(
        schema.to_string(),
        r#"{"type":"object","properties":{"result":{"type":"number"}},"required":["result"]}"#
    );
}

#[test]
fn a_capability_without_hints_has_no_schema() {
    assert_eq!(Capability::new("a").input_schema(), None);
    assert_eq!(Capability::new("a").output_schema(), None);
    let empty = read(r#"{"name":"a","input_summary":{}}"#).input_schema().expect("there is an empty summary");
    assert_eq!(empty.to_string(), r#"{"type":"object","properties":{},"additionalProperties":false}"#);
}

#[test]
fn paths_are_those_of_the_tool_or_the_defaults() {
    for (text, call, schema) in [
        (r#"{"name":"a"}"#, "/api/capabilities/a", "/api/capabilities/a/schema"),
        (r#"{"name":"a","endpoint":"","schema_endpoint":""}"#, "/api/capabilities/a", "/api/capabilities/a/schema"),
        (r#"{"name":"a","endpoint":"/x"}"#, "/x", "/x/schema"),
        (r#"{"name":"a","endpoint":"/x","schema_endpoint":"/y"}"#, "/x", "/y"),
    ] {
        let capability = read(text);
        assert_eq!(
            (capability.call_path().as_str(), capability.schema_path().as_str()),
            (call, schema),
            "text: {text}"
        );
        assert_eq!(capability.default_endpoint(), "/api/capabilities/a");
    }
}

#[test]
fn a_side_effect_is_one_of_six_words_or_absent() {
    for (word, side_effect) in [
        ("read", SideEffect::Read),
        ("idempotent", SideEffect::Idempotent),
        ("keyed", SideEffect::Keyed),
        ("undeclared", SideEffect::Undeclared),
        ("unknown", SideEffect::Unknown),
        ("unsafe", SideEffect::Unsafe),
    ] {
        assert_eq!(read(&format!(r#"{{"name":"a","effect":"{word}"}}"#)).effect, side_effect);
        assert_eq!(side_effect.to_string(), word);
    }
    assert_eq!(read(r#"{"name":"a"}"#).effect, SideEffect::Undeclared);
    let error = Capability::from_value(&parse(r#"{"name":"a","effect":"Read"}"#)).expect_err("case matters");
    assert_eq!(
        error.to_string(),
        "`$.effect`: expected one of `read`, `idempotent`, `keyed`, `undeclared`, `unknown`, `unsafe`, found `Read`"
    );
}

#[test]
fn an_example_becomes_a_value_of_its_type_only_if_its_text_parses_as_one() {
    for (type_word, example, typed) in [
        ("string", Value::from("35.6"), r#""35.6""#),
        ("float64", Value::from("35.60"), "35.60"),
        ("number", Value::from("1e2"), "1e2"),
        ("number", Value::from("about 5"), r#""about 5""#),
        ("number", Value::from(" 5"), r#"" 5""#),
        ("int", Value::from("5"), "5"),
        ("int", Value::from("5.0"), "5.0"),
        ("int", Value::from("5.5"), r#""5.5""#),
        ("bool", Value::from("false"), "false"),
        ("bool", Value::from("False"), r#""False""#),
        ("list", Value::from("[1, 2]"), "[1,2]"),
        ("list", Value::from("1, 2"), r#""1, 2""#),
        ("map", Value::from(r#"{"a": 1}"#), r#"{"a":1}"#),
        ("map", Value::from("[1]"), r#""[1]""#),
        ("Date", Value::from("5"), r#""5""#),
        ("", Value::from("5"), r#""5""#),
        ("string", Value::from(7), "7"),
    ] {
        let schema = FieldHint { example: Some(example), ..FieldHint::new("f", type_word) }.to_schema();
        let examples = schema.get("examples").expect("the example is kept");
        assert_eq!(examples.to_string(), format!("[{typed}]"), "type: {type_word}");
        assert_eq!(schema.get("default"), None, "an example is not a default");
    }
}

#[test]
fn the_first_hint_with_a_name_describes_the_field() {
    let summary = Summary {
        required: vec![FieldHint::new("a", "int"), FieldHint::new("a", "string")],
        optional: vec![FieldHint { description: Some("second".into()), ..FieldHint::new("a", "bool") }],
        ..Summary::default()
    };
    let schema = summary.to_schema(AdditionalProperties::Allowed);
    assert_eq!(schema.to_string(), r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#);
}

#[test]
fn a_capability_of_the_wrong_shape_is_refused_with_its_path() {
    for (text, message) in [
        (r"{}", "`$.name`: expected a string, found nothing"),
        (r#"{"name":"a","internal":"no"}"#, "`$.internal`: expected a boolean, found a string"),
        (r#"{"name":"a","input_types":["x",1]}"#, "`$.input_types[1]`: expected a string, found a number"),
        (r#"{"name":"a","input_summary":[]}"#, "`$.input_summary`: expected an object, found an array"),
        (
            r#"{"name":"a","input_summary":{"required":[{"type":"x"}]}}"#,
            "`$.input_summary.required[0].name`: expected a string, found nothing",
        ),
    ] {
        assert_eq!(Capability::from_value(&parse(text)).expect_err(text).to_string(), message, "text: {text}");
    }
}
