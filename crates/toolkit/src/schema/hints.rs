//! Field hints for those who do not fetch the full schema.

use reknit_protocol::Value;
use reknit_protocol::schema::{FieldHint, Summary};

use super::words::{MAX_LEVELS, allowed, branches, resolve};

/// The fields of an object as hints; `None` if the schema is not that of an object with fields.
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
    let mut hint = FieldHint::new(name, type_word(root, field, MAX_LEVELS));
    hint.example = example(root, field);
    let said = text(field, "description").or_else(|| resolve(root, field).and_then(|field| text(field, "description")));
    let choice = allowed(root, field).map(|values| {
        let values: Vec<String> = values.iter().filter(|value| !value.is_null()).map(Value::to_string).collect();
        format!("one of {}", values.join(", "))
    });
    hint.description = match (said, choice) {
        (Some(said), Some(choice)) => Some(format!("{said} ({choice})")),
        (said, choice) => said.or(choice),
    };
    hint
}

/// A value that fits, if the author has given one.
pub(crate) fn example(root: &Value, field: &Value) -> Option<Value> {
    let of = |field: &Value| field.get("examples").and_then(Value::as_array).and_then(<[Value]>::first).cloned();
    of(field).or_else(|| resolve(root, field).and_then(of))
}

fn text(field: &Value, key: &str) -> Option<String> {
    field.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// The word that `protocol::schema::for_type` turns back into a schema; empty if no single word says it.
fn type_word(root: &Value, field: &Value, levels: usize) -> String {
    let (Some(field), Some(levels)) = (resolve(root, field), levels.checked_sub(1)) else { return String::new() };
    if let Some(branches) = branches(field) {
        let words: Vec<String> =
            branches.iter().map(|branch| type_word(root, branch, levels)).filter(|word| word != "null").collect();
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
        _ => match field.get("const") {
            Some(value) => value.kind().as_str(),
            None => "",
        },
    };
    match field.get("items").map(|items| type_word(root, items, levels)) {
        Some(item) if word == "array" && !item.is_empty() => format!("array<{item}>"),
        _ => word.to_owned(),
    }
}

fn non_null(words: &[Value]) -> Vec<&str> {
    words.iter().filter_map(Value::as_str).filter(|word| *word != "null").collect()
}
