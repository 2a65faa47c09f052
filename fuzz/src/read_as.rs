//! Reading with a schema.

use std::sync::LazyLock;

use reknit_protocol::{Number, Path, Value};
use reknit_salvage::{Completeness, ReadTextError, Reading, Schema};

use crate::read::assert_error_is_valid;
use crate::{assert_only_keys_respelled, text_of};

/// Each schema accepts 1 wherever it accepts a number: [`put_number`] replaces expressions by 1.
const SCHEMAS: [&str; 8] = [
    r#"{"type": "object", "properties": {"amount": {"type": "number"}, "city": {"type": "string"}},
        "required": ["amount"], "additionalProperties": false}"#,
    r#"{"type": "object", "properties": {"lat": {"type": "number"}, "max_results": {"type": "integer"},
        "unit": {"enum": ["metric", "imperial"]}, "live": {"type": "boolean"}, "tags": {"type": "array",
        "items": {"type": "string"}}}}"#,
    r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 5}"#,
    r#"{"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[a-z]+$"},
        {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}]}}"#,
    r##"{"$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "weight": {"type": "number"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["name"],
        "additionalProperties": false}}, "$ref": "#/$defs/node"}"##,
    r#"{"oneOf": [{"type": "object", "properties": {"kind": {"const": "text"}, "body": {"type": "string"}},
        "required": ["kind", "body"]}, {"type": "object", "properties": {"kind": {"const": "count"},
        "total": {"type": ["integer", "null"]}}, "required": ["kind", "total"]}]}"#,
    r#"{"type": ["number", "boolean", "null"]}"#,
    r#"{"type": "string"}"#,
];

static COMPILED: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    let compile = |text| Schema::compile(&Value::parse(text).expect("it is JSON")).expect("it is a schema");
    SCHEMAS.into_iter().map(compile).collect()
});

/// The value fits the schema, except where it is an expression, and reads as itself. The first byte selects the schema.
pub fn read_as(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let schema = &COMPILED[usize::from(*first) % SCHEMAS.len()];
    let text = text_of(rest);
    let fitting = Value::parse(&text).ok().filter(|value| schema.fits(value));
    match (reknit_salvage::read_as(&text, schema), fitting) {
        (Ok(reading), fitting) => {
            assert_fits(&reading, schema);
            if fitting.is_some() {
                assert_only_keys_respelled(&reading.fixes);
                assert_eq!(reading.completeness, Completeness::Complete);
            }
            if reading.expressions.is_empty() {
                assert_reads_as_itself(&reading.value, schema);
            }
        }
        (Err(error), Some(_)) => panic!("valid text that fits is refused: {error}"),
        (Err(error), None) => {
            assert_error_is_valid(&error, &text);
            if let ReadTextError::DoesNotFit(misfit) = error {
                assert!(!misfit.problems.is_empty(), "a misfit names its problems");
            }
        }
    }
}

fn assert_fits(reading: &Reading, schema: &Schema) {
    let mut value = reading.value.clone();
    for path in &reading.expressions {
        put_number(&mut value, path);
    }
    assert!(schema.fits(&value), "does not fit: {reading:?}\n{:?}", schema.problems(&value));
}

/// Replaces the expression at `path` by a number.
fn put_number(value: &mut Value, path: &Path) {
    let place = value.at_mut(path).expect("the path of an expression exists");
    assert!(place.as_str().is_some_and(|text| text.starts_with("{{")), "no expression at {path}: {place}");
    *place = Value::Number(Number::from(1));
}

fn assert_reads_as_itself(value: &Value, schema: &Schema) {
    let again = reknit_salvage::read_as(&value.to_string(), schema).expect("a printed value can be read");
    assert!(again.fixes.is_empty(), "a fitting value was repaired: {value}\n{:?}", again.fixes);
    assert_eq!(again.value.to_string(), value.to_string());
    assert_eq!(again.completeness, Completeness::Complete);
}
