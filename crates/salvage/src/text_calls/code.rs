//! Reads calls that are written as code: `name(key=value)`, and `call:name{key:value}`.

use reknit_protocol::{Object, Path, Segment, Value};

use super::json::whole_object;
use super::{Body, TextCall, is_name};
use crate::Fix;
use crate::repair::read::complete_reading;

/// `[name(key=value), ...]`, or the same without brackets, on lines of their own or behind commas.
pub(super) fn python_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let text = body.text.trim();
    let inner = listed(text).unwrap_or(text);
    let calls = split_outside_brackets(inner, &[',', '\n', ';'])?;
    let calls: Vec<_> = calls.into_iter().map(str::trim).filter(|call| !call.is_empty()).map(function_call).collect();
    calls.into_iter().collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty())
}

/// What stands between the brackets around a whole text.
pub(super) fn listed(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.strip_suffix(']').map(str::trim)
}

/// `name({...})` or `name(key=value, ...)`. It may stand in `print(...)`.
pub(super) fn function_call(text: &str) -> Option<TextCall> {
    let (name, rest) = text.split_once('(')?;
    let inner = rest.trim_end_matches(';').trim_end().strip_suffix(')')?.trim();
    if name == "print" {
        return function_call(inner);
    }
    let name = name.strip_prefix("default_api.").unwrap_or(name);
    if !is_name(name) {
        return None;
    }
    let (parameters, fixes) = match inner {
        "" => (Object::new(), Vec::new()),
        _ if inner.starts_with('{') => whole_object(inner)?,
        _ => keyword_arguments(inner)?,
    };
    Some(TextCall::between_tags(name, parameters, fixes))
}

fn keyword_arguments(inner: &str) -> Option<(Object, Vec<Fix>)> {
    let mut parameters = Object::new();
    let mut fixes = Vec::new();
    for part in split_outside_brackets(inner, &[','])? {
        if part.trim().is_empty() {
            continue;
        }
        let (key, value) = part.split_once('=')?;
        let key = key.trim();
        let is_key = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if key.is_empty() || !key.chars().all(is_key) || parameters.contains_key(key) {
            return None;
        }
        let reading = complete_reading(value.trim()).ok()?;
        let place = |path: &Path| {
            std::iter::once(Segment::Key(key.to_owned())).chain(path.segments().iter().cloned()).collect()
        };
        fixes.extend(reading.fixes.into_iter().map(|fix| Fix { path: place(&fix.path), ..fix }));
        parameters.insert(key, reading.value);
    }
    Some((parameters, fixes))
}

/// The parts between separators that are not inside quotes or brackets; `None` if a quote or a bracket is not closed.
fn split_outside_brackets<'a>(text: &'a str, separators: &[char]) -> Option<Vec<&'a str>> {
    let (mut parts, mut start, mut depth, mut quote, mut escaped) = (Vec::new(), 0, 0_i32, None, false);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(_), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if character == open && !escaped => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) if depth == 0 && separators.contains(&character) => {
                parts.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
        escaped = false;
        if depth < 0 {
            return None;
        }
    }
    parts.push(text.get(start..)?);
    (depth == 0 && quote.is_none()).then_some(parts)
}

/// `call:NAME{key:<escape>text<escape>,other:5}`, one or several. `<|"|>` quotes texts as well.
pub(super) fn braced_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    for part in body.text.split("<tool_call|>").map(str::trim).filter(|part| !part.is_empty()) {
        let part = part.trim_start_matches("<|tool_call>").strip_prefix("call:")?;
        let (name, _) = part.split_once('{')?;
        // The way to quote is that of the model, and no damage.
        let (parameters, _) = whole_object(&with_quotes(part.get(name.len()..)?)?)?;
        let name = name.trim();
        calls.push(is_name(name).then(|| TextCall::between_tags(name, parameters, Vec::new()))?);
    }
    (!calls.is_empty()).then_some(calls)
}

/// The text with the quotes of JSON in place of those of the model; `None` if one is not closed.
fn with_quotes(text: &str) -> Option<String> {
    let delimiter = if text.contains("<escape>") { "<escape>" } else { "<|\"|>" };
    let parts: Vec<&str> = text.split(delimiter).collect();
    let quoted = |(index, part): (usize, &&str)| match index % 2 {
        0 => (*part).to_owned(),
        _ => Value::from(*part).to_string(),
    };
    (parts.len() % 2 == 1).then(|| parts.iter().enumerate().map(quoted).collect())
}
