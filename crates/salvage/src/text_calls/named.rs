//! Reads calls whose name stands before their arguments, which are JSON.

use super::json::{document_length, whole_object, without_fence};
use super::{Body, TextCall, is_name, without_marks};

/// What begins or ends one call of several. It says nothing that the name and the arguments do not say.
const CALL_MARKS: [&str; 7] = [
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
    "function<｜tool▁sep｜>",
    "```",
    ",",
];

/// What stands between the name and the arguments.
const SEPARATORS: [&str; 6] =
    ["[ARGS]", "<｜tool▁sep｜>", "<|tool_call_argument_begin|>", "```json", "```", "<|content|>"];

/// `NAME{...}`, one or several, with the separators of the model.
pub(super) fn named_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    let mut rest = without_marks(body.text, &CALL_MARKS);
    while !rest.is_empty() {
        let (header, _) = rest.split_once('{')?;
        let arguments = rest.get(header.len()..)?;
        let length = document_length(arguments)?;
        let (parameters, fixes) = whole_object(arguments.get(..length)?)?;
        calls.push(TextCall::between_tags(name_before_arguments(header)?, parameters, fixes));
        rest = without_marks(arguments.get(length..)?, &CALL_MARKS);
    }
    (!calls.is_empty()).then_some(calls)
}

fn name_before_arguments(header: &str) -> Option<&str> {
    let header = header.trim();
    let Some(end) = header.find(['[', '<', '`', '\n']) else { return bare_name(header) };
    let (name, separator) = header.split_at(end);
    SEPARATORS.iter().any(|token| separator.ends_with(token)).then(|| bare_name(name.trim()))?
}

/// The name in `functions.NAME:0`.
fn bare_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix("functions.").unwrap_or(text);
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    is_name(name).then_some(name)
}

/// `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}<|call|>`.
pub(super) fn harmony_message(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let (header, content) = body.text.split_once("<|message|>")?;
    let recipient = header.split_once("to=")?.1.split(|character: char| character.is_whitespace() || character == '<');
    let name = bare_name(recipient.into_iter().next()?)?;
    let content = content.split("<|call|>").next()?.trim();
    let (parameters, fixes) = whole_object(content)?;
    Some(vec![TextCall::between_tags(name, parameters, fixes)])
}

/// `Action: NAME` and `Action Input: {...}` on lines of their own. The body begins behind `Action:`.
pub(super) fn react_call(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let (name, input) = body.text.split_once('\n')?;
    let name = name.trim().trim_matches(['`', '"', '\'', '*']);
    let input = input.trim_start().strip_prefix("Action Input:")?;
    let (parameters, fixes) = whole_object(without_fence(input.trim()))?;
    is_name(name).then(|| vec![TextCall::between_tags(name, parameters, fixes)])
}
