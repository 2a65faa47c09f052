//! What a schema asks for, in the words of an error message.

use reknit_protocol::{Path, Value};

/// How many references may follow one another before nothing has been said.
const MAX_HOPS: usize = 16;
/// A type can contain itself; a message has to end.
pub(super) const MAX_LEVELS: usize = 6;

/// Follows references within the document; `None` if one leads nowhere.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        schema = root.at(&Path::from_pointer(reference.strip_prefix('#')?, root).ok()?)?;
    }
    None
}

/// How a type is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For programs: `number`.
    Bare,
    /// For sentences: `a number`.
    WithArticle,
}

/// `number`, `array of string`, `one of "metric", "imperial"`, `string or null`.
pub(crate) fn expected(root: &Value, schema: &Value, form: Form) -> String {
    in_words(root, schema, form, MAX_LEVELS)
}

fn in_words(root: &Value, schema: &Value, form: Form, levels: usize) -> String {
    let (Some(schema), Some(levels)) = (resolve(root, schema), levels.checked_sub(1)) else {
        return "any value".to_owned();
    };
    if let Some(allowed) = allowed(root, schema) {
        let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return match words.as_slice() {
            [only] => only.clone(),
            _ => format!("one of {}", words.join(", ")),
        };
    }
    if let Some(branches) = branches(schema) {
        let words: Vec<String> = branches.iter().map(|branch| in_words(root, branch, form, levels)).collect();
        return words.join(" or ");
    }
    let one = |word: &str| match schema.get("items") {
        Some(items) if word == "array" => {
            format!("{} of {}", named(word, form), in_words(root, items, Form::Bare, levels))
        }
        _ => named(word, form),
    };
    match schema.get("type") {
        Some(Value::String(word)) => one(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(one).collect::<Vec<String>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn named(word: &str, form: Form) -> String {
    match (form, word) {
        (Form::Bare, _) | (Form::WithArticle, "null") => word.to_owned(),
        (Form::WithArticle, "array" | "integer" | "object") => format!("an {word}"),
        (Form::WithArticle, _) => format!("a {word}"),
    }
}

/// The alternatives a schema leaves open.
pub(crate) fn branches(schema: &Value) -> Option<&[Value]> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)
}

/// The values a schema allows, if it lists them, be it in one place or one to an alternative.
pub(crate) fn allowed(root: &Value, schema: &Value) -> Option<Vec<Value>> {
    listed(root, schema, MAX_LEVELS)
}

fn listed(root: &Value, schema: &Value, levels: usize) -> Option<Vec<Value>> {
    let (schema, levels) = (resolve(root, schema)?, levels.checked_sub(1)?);
    if let Some(only) = schema.get("const") {
        return Some(vec![only.clone()]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.to_vec());
    }
    let lists: Option<Vec<Vec<Value>>> = branches(schema)?.iter().map(|one| listed(root, one, levels)).collect();
    lists.map(|lists| lists.into_iter().flatten().collect())
}
