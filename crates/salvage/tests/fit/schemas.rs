//! Compiling schemas.

use reknit_protocol::Value;
use reknit_salvage::{Schema, SchemaError};

use crate::support::{json, schema};

#[test]
fn a_schema_can_be_shared_between_threads_and_keeps_its_source() {
    fn assert_shared<T: Send + Sync + std::fmt::Debug>(_: &T) {}
    let text = r#"{"type": "number", "minimum": 0.10}"#;
    let schema = schema(text);
    assert_shared(&schema);
    assert_eq!(schema.source().to_string(), json(text).to_string());
    assert_eq!(format!("{schema:?}"), r#"Schema({"type":"number","minimum":0.10})"#);
}

#[test]
fn a_schema_error_has_a_path_and_a_message() {
    for (text, expected) in [
        (r#""string""#, "a schema must be an object or a boolean, not a string"),
        (
            r#"{"properties": {"a": {"type": "text"}}}"#,
            r#"the schema is not valid at `$.properties.a.type`: expected "array", "boolean", "integer", "null", "number", "object" or "string", found "text""#,
        ),
        (
            r#"{"properties": {"a": {"minLength": "3"}}}"#,
            r#"the schema is not valid at `$.properties.a.minLength`: expected an integer, found the string "3""#,
        ),
        (r#"{"required": "a"}"#, r#"the schema is not valid at `$.required`: expected an array, found the string "a""#),
        (r#"{"pattern": "("}"#, r#"the schema is not valid at `$.pattern`: "(" is not a "regex""#),
        (
            r#"{"items": {"$ref": "https://example.com/a.json#/x"}}"#,
            "the schema refers to `https://example.com/a.json#/x` at `$.items[\"$ref\"]`, which is outside of it and is not fetched",
        ),
        (
            r##"{"items": {"$ref": "#/$defs/none"}}"##,
            "the schema refers to `#/$defs/none` at `$.items[\"$ref\"]`, which does not exist",
        ),
        (
            r#"{"$schema": "https://example.com/my-draft"}"#,
            "the schema refers to `https://example.com/my-draft` at `$[\"$schema\"]`, which is outside of it and is not fetched",
        ),
    ] {
        let error = Schema::compile(&json(text)).expect_err(text);
        assert_eq!(error.to_string(), expected, "case: {text}");
    }
}

#[test]
fn a_file_reference_is_not_read() {
    let error = Schema::compile(&json(r#"{"$ref": "file:///etc/hostname"}"#)).expect_err("external");
    assert!(matches!(error, SchemaError::External { .. }), "{error}");
}

#[test]
fn the_draft_is_the_one_the_schema_names() {
    let draft_7 =
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "definitions": {}}"#;
    assert!(!schema(draft_7).fits(&json("[1]")));
    assert!(schema(draft_7).fits(&json(r#"["a", 1]"#)));
    let newest = r#"{"prefixItems": [{"type": "string"}]}"#;
    assert!(!schema(newest).fits(&json("[1]")));
}

#[test]
fn a_format_guides_fitting_in_any_draft() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let text = format!(r#"{{"$schema": "{draft}", "type": "string", "format": "date"}}"#);
        assert!(!schema(&text).fits(&json(r#""next friday""#)), "case: {draft}");
        assert!(schema(&text).fits(&json(r#""March 5, 2026""#)), "case: {draft}");
        let uri = text.replace("\"date\"", "\"uri\"");
        assert!(schema(&uri).fits(&json(r#""next friday""#)), "case: {draft}");
    }
}

#[test]
fn validation_is_exact_where_floats_are_not() {
    for (under, value, fits) in [
        (r#"{"type": "integer"}"#, "123456789012345678901234567890", true),
        (r#"{"type": "integer"}"#, "1234567890123456789012345678.5", false),
        (r#"{"maximum": 9007199254740992}"#, "9007199254740993", false),
        (r#"{"enum": [18446744073709551615]}"#, "18446744073709551614", false),
        (r#"{"enum": [18446744073709551615]}"#, "18446744073709551615.0", true),
        (r#"{"uniqueItems": true}"#, "[9007199254740993, 9007199254740992]", true),
        (r#"{"uniqueItems": true}"#, "[1, 1.0]", false),
        (r#"{"uniqueItems": true}"#, r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1}]"#, false),
        (r#"{"uniqueItems": true}"#, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1e1]", false),
        (r#"{"const": {"a": [1, null, true, "x"]}}"#, r#"{"a": [1.0, null, true, "x"]}"#, true),
        (r#"{"const": {"a": [1]}}"#, r#"{"a": [1, 2]}"#, false),
        (r#"{"maximum": 5}"#, "1e999", false),
        (r#"{"multipleOf": 0.01}"#, "19.99", true),
    ] {
        assert_eq!(schema(under).fits(&json(value)), fits, "case: {value} under {under}");
    }
}

#[test]
fn booleans_are_schemas() {
    assert!(schema("true").fits(&Value::Null));
    assert!(!schema("false").fits(&Value::Null));
}
