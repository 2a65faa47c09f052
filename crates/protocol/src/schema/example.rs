//! Examples in field hints.

use crate::{Number, Object, Value};

/// Converts an example string to the type of its field. A string that does not parse as that type stays a string.
pub(super) fn to_typed(example: &Value, schema: &Object) -> Value {
    let (Value::String(text), Some(type_name)) = (example, schema.get("type").and_then(Value::as_str)) else {
        return example.clone();
    };
    parse_as(text, type_name).unwrap_or_else(|| example.clone())
}

fn parse_as(text: &str, type_name: &str) -> Option<Value> {
    match type_name {
        "number" => Number::parse(text).ok().map(Value::Number),
        "integer" => Number::parse(text).ok().filter(Number::is_integer).map(Value::Number),
        "boolean" => text.parse().ok().map(Value::Bool),
        "array" => Value::parse(text).ok().filter(|value| value.as_array().is_some()),
        "object" => Value::parse(text).ok().filter(|value| value.as_object().is_some()),
        _ => None,
    }
}
