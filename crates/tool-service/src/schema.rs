//! What JSON Schemas say to people and planners: the type that a message says was expected, the values that a schema lists, and
//! field hints for callers that do not fetch the full schema.

#[cfg(feature = "schemars")]
mod from_type;

#[cfg(feature = "schemars")]
pub(crate) use from_type::{for_input, for_output};

use reknit_protocol::schema::{FieldHint, Summary};
use reknit_protocol::{Path, Value};

/// How long a chain of references may be.
const MAX_REFERENCES: usize = 16;
/// How deep a description goes: a type can contain itself.
const MAX_DEPTH: usize = 6;

/// Follows references within the document; `None` if one leads nowhere.
fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
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

/// The fields of an object as hints; `None` if the schema does not declare an object with fields.
pub(crate) fn summary(schema: &Value) -> Option<Summary> {
    let object = resolve(schema, schema)?;
    let properties = object.get("properties")?.as_object()?;
    let required = object.get("required").and_then(Value::as_array).unwrap_or_default();
    let mut summary = Summary::default();
    for (name, field) in properties {
        let hint = hint(schema, name, field);
        if required.iter().any(|one| one.as_str() == Some(name)) {
            summary.required.push(hint);
        } else {
            summary.optional.push(hint);
        }
    }
    Some(summary)
}

fn hint(root: &Value, name: &str, field: &Value) -> FieldHint {
    let mut hint = FieldHint::new(name, type_word(root, field, MAX_DEPTH));
    hint.example = example(root, field);
    let description = |field: &Value| field.get("description").and_then(Value::as_str).map(str::to_owned);
    let written = description(field).or_else(|| resolve(root, field).and_then(description));
    let choice = allowed_values(root, field).map(|values| {
        let values: Vec<String> = values.iter().filter(|value| !value.is_null()).map(Value::to_string).collect();
        format!("one of {}", values.join(", "))
    });
    hint.description = match (written, choice) {
        (Some(written), Some(choice)) => Some(format!("{written} ({choice})")),
        (written, choice) => written.or(choice),
    };
    hint
}

/// The first example that the author of the type has given.
pub(crate) fn example(root: &Value, field: &Value) -> Option<Value> {
    let first = |field: &Value| field.get("examples").and_then(Value::as_array).and_then(<[Value]>::first).cloned();
    first(field).or_else(|| resolve(root, field).and_then(first))
}

/// The word that `protocol::schema::for_type` turns back into a schema; empty if no single word describes the type.
fn type_word(root: &Value, field: &Value, depth: usize) -> String {
    let (Some(field), Some(depth)) = (resolve(root, field), depth.checked_sub(1)) else { return String::new() };
    if let Some(alternatives) = alternatives(field) {
        let words: Vec<String> =
            alternatives.iter().map(|one| type_word(root, one, depth)).filter(|word| word != "null").collect();
        return match words.as_slice() {
            [first, rest @ ..] if rest.iter().all(|word| word == first) => first.clone(),
            _ => String::new(),
        };
    }
    let word = match field.get("type") {
        Some(Value::String(word)) => word.as_str(),
        Some(Value::Array(words)) => {
            let mut words = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            words.next().filter(|_| words.next().is_none()).unwrap_or_default()
        }
        _ => field.get("const").map_or("", |value| value.kind().as_str()),
    };
    match field.get("items").map(|items| type_word(root, items, depth)) {
        Some(item) if word == "array" && !item.is_empty() => format!("array<{item}>"),
        _ => word.to_owned(),
    }
}
