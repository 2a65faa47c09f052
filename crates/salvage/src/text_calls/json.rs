//! Reads calls that are written as JSON.

use reknit_protocol::{Object, Value};

use super::{Body, TextCall, TextCallForm};
use crate::repair::read::complete_reading;
use crate::{Completeness, Fix, FixKind, ReadOptions, Reading, read};

/// One call, a list, `{"tool_calls": [...]}`, or several documents behind each other. None unless every item is a call.
pub(super) fn json_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let text = without_fence(body.text);
    let readings = match whole_json(text) {
        Some(reading) => vec![reading],
        None => documents(text)?.into_iter().map(whole_json).collect::<Option<_>>()?,
    };
    let mut calls = Vec::new();
    for Reading { value, fixes, .. } in &readings {
        for item in items(value) {
            let call = read_call(item.as_object()?)?;
            calls.push(TextCall { fixes: fixes.iter().cloned().chain(call.fixes).collect(), ..call });
        }
    }
    (!calls.is_empty()).then_some(calls)
}

/// `functools[{...}]`.
pub(super) fn functools_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let text = body.text.strip_prefix("functools")?;
    json_calls(&Body { text: text.strip_suffix("<|im_end|>").unwrap_or(text).trim(), ..*body })
}

/// A list of `{"NAME": {...}}`.
pub(super) fn keyed_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let Reading { value, fixes, .. } = whole_json(body.text)?;
    let call = |item: &Value| {
        let object = item.as_object()?;
        let (name, parameters) = object.iter().next()?;
        let parameters = parameters.as_object()?.clone();
        (object.len() == 1).then(|| TextCall::between_tags(name, parameters, fixes.clone()))
    };
    items(&value).into_iter().map(call).collect()
}

fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(object) => match object.get("tool_calls").and_then(Value::as_array) {
            Some(items) => items.iter().collect(),
            None => vec![value],
        },
        _ => vec![value],
    }
}

/// `{"name": ..., "arguments": ...}` under its usual names: the name and the parameters.
pub fn call_of_object(object: &Object) -> Option<(String, Object)> {
    read_call(object).map(|call| (call.name, call.parameters))
}

fn read_call(object: &Object) -> Option<TextCall> {
    let call = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let all = |names: &'static [&str]| names.iter().filter_map(|name| call.get(name));
    // A model that repeats the definition of a tool does not call it.
    let schema = call.get("parameters").and_then(Value::as_object);
    if call.contains_key("description") && schema.is_some_and(|schema| schema.contains_key("properties")) {
        return None;
    }
    let name = all(&["name", "tool_name", "tool", "function", "action"]).next()?.as_str()?.to_owned();
    let mut arguments = all(&["arguments", "parameters", "args", "input", "action_input"]);
    let first = arguments.next()?;
    // Which of two different ones is meant is not known.
    if arguments.any(|other| other != first) {
        return None;
    }
    let (parameters, fixes) = match first {
        Value::Object(parameters) => (parameters.clone(), Vec::new()),
        Value::String(text) => {
            let reading = complete_reading(text).ok()?;
            (reading.value.as_object()?.clone(), reading.fixes)
        }
        Value::Null => (Object::new(), Vec::new()),
        _ => return None,
    };
    Some(TextCall { name, parameters, form: TextCallForm::Tag, fixes })
}

/// The JSON document that is the whole text. Text around it, or a missing end, is no match.
pub(super) fn whole_json(text: &str) -> Option<Reading> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let reading = read(text, &ReadOptions::default()).ok()?;
    let is_part = |kind: FixKind| {
        matches!(kind, FixKind::Fence | FixKind::SurroundingText | FixKind::Mention | FixKind::Reasoning)
    };
    let is_whole = reading.completeness == Completeness::Complete && !reading.fixes.iter().any(|fix| is_part(fix.kind));
    is_whole.then_some(reading)
}

pub(super) fn whole_object(text: &str) -> Option<(Object, Vec<Fix>)> {
    let Reading { value, fixes, .. } = whole_json(text)?;
    Some((Object::try_from(value).ok()?, fixes))
}

/// The text inside a fence that surrounds all of it.
pub(super) fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}

/// The JSON documents of a text that has nothing else, whatever separates them.
fn documents(text: &str) -> Option<Vec<&str>> {
    let mut documents = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_whitespace() || matches!(character, ',' | ';'));
        if rest.is_empty() {
            return Some(documents);
        }
        let length = document_length(rest)?;
        documents.push(rest.get(..length)?);
        rest = rest.get(length..)?;
    }
}

/// The length of the object or list at the beginning of a text. None if it has no end.
pub(super) fn document_length(text: &str) -> Option<usize> {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
