//! JSON Schemas whose `type` holds a type word of a programming language.

use super::{X_TYPE, for_type};
use crate::{Object, Value};

/// The types of JSON Schema.
pub(super) const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// The keywords whose value is a schema, or a list of schemas.
pub const SCHEMA_KEYWORDS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
];

/// The keywords whose value is an object with a schema under each key.
pub const MAP_KEYWORDS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Replaces each `type` that JSON Schema does not define, such as Go's `float64`, by the schema that [`for_type`] gives for
/// it. Other keywords of the schema stay as they are; a valid schema is not changed.
pub fn normalise_types(schema: &mut Value) {
    // The parser limits how deep a value is nested.
    match schema {
        Value::Object(object) => normalise_object(object),
        Value::Array(schemas) => schemas.iter_mut().for_each(normalise_types),
        _ => {}
    }
}

fn normalise_object(schema: &mut Object) {
    for keyword in SCHEMA_KEYWORDS {
        if let Some(inner) = schema.get_mut(keyword) {
            normalise_types(inner);
        }
    }
    for keyword in MAP_KEYWORDS {
        if let Some(Value::Object(map)) = schema.get_mut(keyword) {
            map.iter_mut().for_each(|(_, schema)| normalise_types(schema));
        }
    }
    match schema.get("type").cloned() {
        Some(Value::String(word)) if !TYPES.contains(&word.as_str()) => replace_type(schema, &word),
        Some(Value::Array(words)) => normalise_type_list(schema, &words),
        _ => {}
    }
}

/// Replaces a type word by its schema. Keywords that the schema has already win, except `type` itself.
fn replace_type(schema: &mut Object, word: &str) {
    let meant = for_type(word);
    if !meant.contains_key("type") {
        schema.remove("type");
    }
    for (keyword, value) in &meant {
        if keyword == "type" || !schema.contains_key(keyword) {
            schema.insert(keyword, value.clone());
        }
    }
}

/// Replaces the words of a list of types. A word without a type of JSON Schema allows any value.
fn normalise_type_list(schema: &mut Object, words: &[Value]) {
    let is_type = |word: &Value| word.as_str().is_some_and(|word| TYPES.contains(&word));
    if words.iter().all(is_type) {
        return;
    }
    let mut types: Vec<Value> = Vec::new();
    for word in words {
        let meant = if is_type(word) { None } else { word.as_str().map(for_type) };
        let named = match meant.as_ref().map_or(Some(word), |meant| meant.get("type")) {
            Some(Value::Array(several)) => several.clone(),
            Some(one) => vec![one.clone()],
            None => {
                schema.remove("type");
                schema.insert(X_TYPE, Value::Array(words.to_vec()));
                return;
            }
        };
        types.extend(named.into_iter().filter(|name| !types.contains(name)).collect::<Vec<_>>());
    }
    schema.insert("type", types);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(schema: &str) -> String {
        let mut schema = Value::parse(schema).unwrap();
        normalise_types(&mut schema);
        schema.to_string()
    }

    #[test]
    fn type_words_of_go_become_types_of_json_schema() {
        for (word, expected) in [
            ("float64", r#"{"type":"number"}"#),
            ("int", r#"{"type":"integer"}"#),
            ("bool", r#"{"type":"boolean"}"#),
            ("[]string", r#"{"type":"array","items":{"type":"string"}}"#),
            ("map[string]interface{}", r#"{"type":"object","additionalProperties":{}}"#),
            ("time.Time", r#"{"type":"string","format":"date-time"}"#),
            ("*string", r#"{"type":["string","null"]}"#),
            ("interface{}", "{}"),
            ("Money", r#"{"x-type":"Money"}"#),
        ] {
            assert_eq!(normalised(&format!(r#"{{"type":"{word}"}}"#)), expected, "word: {word}");
        }
    }

    #[test]
    fn type_words_are_replaced_wherever_a_schema_stands() {
        let schema = r#"{"properties":{"a":{"items":{"type":"int"}},"b":{"anyOf":[{"type":"bool"},{"type":["float64","null"]}]}},"$defs":{"c":{"additionalProperties":{"type":"Money"}}}}"#;
        assert_eq!(
            normalised(schema),
            r#"{"properties":{"a":{"items":{"type":"integer"}},"b":{"anyOf":[{"type":"boolean"},{"type":["number","null"]}]}},"$defs":{"c":{"additionalProperties":{"x-type":"Money"}}}}"#
        );
    }

    #[test]
    fn keywords_beside_a_type_word_win_and_properties_and_examples_are_not_types() {
        let schema = r#"{"type":"uint","minimum":5,"examples":[{"type":"float64"}],"enum":[{"type":"int"}]}"#;
        assert_eq!(normalised(schema), schema.replace("uint", "integer"));
        let properties = r#"{"type":"object","properties":{"type":{"type":"string","const":"float64"}}}"#;
        assert_eq!(normalised(properties), properties);
    }
}
