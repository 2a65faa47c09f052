//! Examples as values of the type they are examples of.

use crate::{Number, Object, Value};

/// Field hints carry examples as text. Where the text is exactly a value of the field's type it becomes that value;
/// otherwise it stays the text it is.
pub(super) fn typed(example: &Value, schema: &Object) -> Value {
    let (Value::String(text), Some(type_name)) = (example, schema.get("type").and_then(Value::as_str)) else {
        return example.clone();
    };
    of_type(text, type_name).unwrap_or_else(|| example.clone())
}

fn of_type(text: &str, type_name: &str) -> Option<Value> {
    match type_name {
        "number" => Number::parse(text).ok().map(Value::Number),
        "integer" => Number::parse(text).ok().filter(Number::is_integer).map(Value::Number),
        "boolean" => text.parse().ok().map(Value::Bool),
        "array" => Value::parse(text).ok().filter(|value| value.as_array().is_some()),
        "object" => Value::parse(text).ok().filter(|value| value.as_object().is_some()),
        _ => None,
    }
}
