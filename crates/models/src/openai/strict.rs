//! Whether a provider will hold an answer to its schema by force.

use reknit_protocol::{Object, Value};

/// The keywords that strict mode knows for certain. A schema with any other is sent without `strict`: the provider would
/// refuse the whole request, while without it the schema is still a strong hint.
const KNOWN: &[&str] = &[
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "title",
    "type",
];

/// Whether a schema keeps to the rules of strict mode: an object at the top, only known keywords, and every object closed
/// with all its properties required.
pub(crate) fn is_strict(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object") && is_strict_inside(schema)
}

fn is_strict_inside(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let all = |value: &Value| match value {
        Value::Object(members) => members.values().all(is_strict_inside),
        Value::Array(items) => items.iter().all(is_strict_inside),
        _ => false,
    };
    schema.keys().all(|key| KNOWN.contains(&key))
        && (!describes_objects(schema) || is_closed(schema))
        && schema.get("items").is_none_or(is_strict_inside)
        && ["properties", "anyOf", "$defs", "definitions"].iter().all(|key| schema.get(key).is_none_or(all))
}

fn describes_objects(schema: &Object) -> bool {
    let named = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str() == Some("object")),
        _ => false,
    };
    named || schema.contains_key("properties")
}

fn is_closed(schema: &Object) -> bool {
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    schema.get("additionalProperties").and_then(Value::as_bool) == Some(false)
        && properties.is_some_and(|properties| {
            properties.keys().all(|key| required.iter().any(|name| name.as_str() == Some(key)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_is_asked_for_only_where_it_can_be_had() {
        for (schema, expected) in [
            (r#"{"type":"object","properties":{},"additionalProperties":false}"#, true),
            (
                r#"{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}"#,
                true,
            ),
            (r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#, false),
            (r#"{"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false}"#, false),
            (r#"{"type":"object","additionalProperties":false}"#, false),
            (
                r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}"#,
                false,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string","pattern":"x"}},"required":["a"],"additionalProperties":false}"#,
                false,
            ),
            (
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},true]}},"required":["a"],"additionalProperties":false}"#,
                false,
            ),
            (r#"{"type":"array","items":{"type":"string"}}"#, false),
            ("true", false),
        ] {
            assert_eq!(is_strict(&Value::parse(schema).unwrap()), expected, "{schema}");
        }
    }
}
