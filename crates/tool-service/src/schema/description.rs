//! Schemas in words: the type that a message says was expected, and the values that a schema lists.

use reknit_protocol::{Path, Value};

/// How long a chain of references may be.
const MAX_REFERENCES: usize = 16;
/// How deep a description goes: a type can contain itself.
pub(super) const MAX_DEPTH: usize = 6;

/// Follows references within the document; `None` if one leads nowhere.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        schema = root.at(&Path::from_pointer(reference.strip_prefix('#')?, root).ok()?)?;
    }
    None
}

/// How a description names a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For programs: `number`.
    Bare,
    /// For sentences: `a number`.
    WithArticle,
}

/// `number`, `array of string`, `one of "metric", "imperial"`, `string or null`.
pub(crate) fn describe_type(root: &Value, schema: &Value, form: Form) -> String {
    describe(root, schema, form, MAX_DEPTH)
}

fn describe(root: &Value, schema: &Value, form: Form, depth: usize) -> String {
    let (Some(schema), Some(depth)) = (resolve(root, schema), depth.checked_sub(1)) else {
        return "any value".to_owned();
    };
    if let Some(allowed) = allowed_values(root, schema) {
        let values: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return match values.as_slice() {
            [only] => only.clone(),
            _ => format!("one of {}", values.join(", ")),
        };
    }
    if let Some(alternatives) = alternatives(schema) {
        let types: Vec<String> = alternatives.iter().map(|one| describe(root, one, form, depth)).collect();
        return types.join(" or ");
    }
    let named = |word: &str| match schema.get("items") {
        Some(items) if word == "array" => {
            format!("{} of {}", with_form(word, form), describe(root, items, Form::Bare, depth))
        }
        _ => with_form(word, form),
    };
    match schema.get("type") {
        Some(Value::String(word)) => named(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(named).collect::<Vec<String>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn with_form(word: &str, form: Form) -> String {
    match (form, word) {
        (Form::Bare, _) | (Form::WithArticle, "null") => word.to_owned(),
        (Form::WithArticle, "array" | "integer" | "object") => format!("an {word}"),
        (Form::WithArticle, _) => format!("a {word}"),
    }
}

/// The schemas under `anyOf` or `oneOf`.
pub(crate) fn alternatives(schema: &Value) -> Option<&[Value]> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
}

/// The values that a schema lists: under `enum` or `const`, or in each of its alternatives.
pub(crate) fn allowed_values(root: &Value, schema: &Value) -> Option<Vec<Value>> {
    listed(root, schema, MAX_DEPTH)
}

fn listed(root: &Value, schema: &Value, depth: usize) -> Option<Vec<Value>> {
    let (schema, depth) = (resolve(root, schema)?, depth.checked_sub(1)?);
    if let Some(only) = schema.get("const") {
        return Some(vec![only.clone()]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.to_vec());
    }
    let lists: Option<Vec<Vec<Value>>> = alternatives(schema)?.iter().map(|one| listed(root, one, depth)).collect();
    lists.map(|lists| lists.into_iter().flatten().collect())
}
