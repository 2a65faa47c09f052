//! A step whose texts refer to steps by other names.

use reknit_expressions::{RenameError, Renaming};
use reknit_protocol::{Object, Step, Value};

/// The step with the new names in all its templates and expressions. Its id, and those that it comes after, stay.
pub(super) fn rewrite_step(step: &Step, renaming: Renaming<'_>) -> Result<Step, RenameError> {
    let mut step = step.clone();
    let mut metadata = Object::new();
    for (key, value) in &step.metadata {
        let value = match key {
            "parameters" => renaming.template(value)?,
            "foreach" | "when" | "expect" => condition(value, renaming)?,
            "until" => renamed_check(value, "condition", renaming)?,
            "verify" => renamed_check(value, "expect", renaming)?,
            _ => value.clone(),
        };
        metadata.insert(key, value);
    }
    step.metadata = metadata;
    Ok(step)
}

/// The same, but a step with a text that cannot be parsed stays as it is. The check of the plan reports such a text.
pub(crate) fn rewrite_or_keep(step: &Step, renaming: Renaming<'_>) -> Result<Step, RenameError> {
    match rewrite_step(step, renaming) {
        Err(RenameError::Parse(_)) => Ok(step.clone()),
        other => other,
    }
}

/// The object of `until` or `verify`: its condition is an expression, and `with` are templates.
fn renamed_check(value: &Value, condition_key: &str, renaming: Renaming<'_>) -> Result<Value, RenameError> {
    let Value::Object(object) = value else { return Ok(value.clone()) };
    let entry = |(key, value): (&str, &Value)| {
        let value = match key {
            key if key == condition_key => condition(value, renaming)?,
            "with" => renaming.template(value)?,
            _ => value.clone(),
        };
        Ok((key.to_owned(), value))
    };
    Ok(Value::Object(object.iter().map(entry).collect::<Result<Object, RenameError>>()?))
}

/// An expression, perhaps between braces. A list of plain values, and `true` and `false`, stay as they are.
fn condition(value: &Value, renaming: Renaming<'_>) -> Result<Value, RenameError> {
    let Value::String(text) = value else { return Ok(value.clone()) };
    let text = text.trim();
    let inside = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text);
    renaming.expression(inside).map(Value::String)
}

/// A value in which braces are no placeholders.
pub(super) fn escape_braces(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{{", "{{{{")),
        Value::Array(items) => Value::Array(items.iter().map(escape_braces).collect()),
        Value::Object(object) => {
            Value::Object(object.iter().map(|(key, value)| (key.to_owned(), escape_braces(value))).collect())
        }
        other => other.clone(),
    }
}
