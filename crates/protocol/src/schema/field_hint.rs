//! The hint about one field.

use super::for_type;
use crate::shape::{ExtraFields, wire_object};
use crate::{Number, Object, Value};

/// The description of one input or output field, as the tool announces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldHint {
    pub name: String,
    /// The type, as a word that [`for_type`] interprets; empty if the tool gives none. `type` in JSON.
    pub type_word: String,
    /// A valid value. Tools usually write it as a string, whatever the type.
    pub example: Option<Value>,
    pub description: Option<String>,
    pub extra: ExtraFields,
}

impl FieldHint {
    pub fn new(name: impl Into<String>, type_word: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            type_word: type_word.into(),
            example: None,
            description: None,
            extra: ExtraFields::default(),
        }
    }

    /// The JSON Schema of the field: type, description, and the example under `examples`.
    ///
    /// An example string becomes a value of the type if it parses as one: `"35.6"` for a number gives `35.6`. It never
    /// becomes a `default`, because the user did not choose it.
    pub fn to_schema(&self) -> Object {
        let mut schema = for_type(&self.type_word);
        if let Some(description) = &self.description {
            schema.insert("description", description.as_str());
        }
        if let Some(example) = &self.example {
            let example = typed_example(example, &schema);
            schema.insert("examples", vec![example]);
        }
        schema
    }
}

/// Converts an example string to the type of its field. A string that does not parse as that type stays a string.
fn typed_example(example: &Value, schema: &Object) -> Value {
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

wire_object! {
    FieldHint {
        name: "name" required("a string"),
        type_word: "type" or_default,
        example: "example" optional,
        description: "description" optional,
    }
}
