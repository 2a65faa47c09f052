//! Strict mode for schemas.

use reknit_protocol::{Object, Value};

/// The keywords that strict mode surely supports. A schema with any other is sent without `strict`, because the provider
/// would refuse the request; the schema is then still a strong hint.
const SUPPORTED_KEYWORDS: &[&str] = &[
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

/// Whether a schema follows the rules of strict mode: an object at the top, only supported keywords, and every object
/// closed with all its properties required.
pub(crate) fn is_strict(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object") && is_strict_subschema(schema)
}

fn is_strict_subschema(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let all = |value: &Value| match value {
        Value::Object(members) => members.values().all(is_strict_subschema),
        Value::Array(items) => items.iter().all(is_strict_subschema),
        _ => false,
    };
    schema.keys().all(|key| SUPPORTED_KEYWORDS.contains(&key))
        && (!describes_objects(schema) || is_closed(schema))
        && schema.get("items").is_none_or(is_strict_subschema)
        && ["properties", "anyOf", "$defs", "definitions"].iter().all(|key| schema.get(key).is_none_or(all))
}

fn describes_objects(schema: &Object) -> bool {
    let is_object_type = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str() == Some("object")),
        _ => false,
    };
    is_object_type || schema.contains_key("properties")
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
    fn strict_mode_is_used_only_for_schemas_that_follow_its_rules() {
        let with = |property: &str| {
            format!(
                r#"{{"type":"object","properties":{{"a":{property}}},"required":["a"],"additionalProperties":false}}"#
            )
        };
        for (schema, expected) in [
            (r#"{"type":"object","properties":{},"additionalProperties":false}"#, true),
            (&with(r#"{"type":["string","null"]}"#), true),
            (r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#, false),
            (r#"{"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false}"#, false),
            (r#"{"type":"object","additionalProperties":false}"#, false),
            (&with(r#"{"type":"array","items":{"type":"object"}}"#), false),
            (&with(r#"{"type":"string","pattern":"x"}"#), false),
            (&with(r#"{"anyOf":[{"type":"string"},true]}"#), false),
            (r#"{"type":"array","items":{"type":"string"}}"#, false),
            ("true", false),
        ] {
            assert_eq!(is_strict(&Value::parse(schema).unwrap()), expected, "{schema}");
        }
    }
}
