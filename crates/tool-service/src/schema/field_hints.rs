//! Field hints for callers that do not fetch the full schema.

use reknit_protocol::Value;
use reknit_protocol::schema::{FieldHint, Summary};

use super::description::{MAX_DEPTH, allowed_values, alternatives, resolve};

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
        Some(Value::Array(words)) => match non_null(words).as_slice() {
            [only] => only,
            _ => "",
        },
        _ => field.get("const").map_or("", |value| value.kind().as_str()),
    };
    match field.get("items").map(|items| type_word(root, items, depth)) {
        Some(item) if word == "array" && !item.is_empty() => format!("array<{item}>"),
        _ => word.to_owned(),
    }
}

fn non_null(words: &[Value]) -> Vec<&str> {
    words.iter().filter_map(Value::as_str).filter(|word| *word != "null").collect()
}
