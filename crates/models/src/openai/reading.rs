//! What a server says, taken into the answer.

use reknit_dialogue::{Finish, Usage};
use reknit_protocol::Value;

use crate::draft::{CallPiece, Draft, OnDelta};
use crate::json::{at, count, list, text};
use crate::wire::{Refused, Seen};

/// Takes one event of a stream.
pub(crate) fn event(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<Seen, Refused> {
    take(draft, json, "delta", on_delta)?;
    Ok(Seen::Progress)
}

/// Takes the whole body of an answer in one piece; says whether there was a place for one in it.
pub(crate) fn whole(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
    let has_choices = at(&json, &["choices"]).is_some_and(|choices| choices.as_array().is_some());
    take(draft, json, "message", on_delta)?;
    Ok(has_choices)
}

fn take(draft: &mut Draft, json: Value, part: &str, on_delta: OnDelta<'_>) -> Result<(), Refused> {
    if at(&json, &["error"]).is_some() {
        return Err(Refused(json));
    }
    if let Some(model) = text(&json, &["model"]) {
        draft.model = Some(model.to_owned());
    }
    if let Some(id) = text(&json, &["id"]) {
        draft.request_id.get_or_insert_with(|| id.to_owned());
    }
    if let Some(counted) = at(&json, &["usage"]).and_then(usage) {
        draft.usage = Some(counted);
    }
    let Some(choice) = first(list(&json, &["choices"])) else { return Ok(()) };
    if let Some(part) = at(choice, &[part]) {
        take_part(draft, part, on_delta);
    }
    match text(choice, &["finish_reason"]) {
        Some(reason) if BROKEN_OFF.contains(&reason) => draft.broken_off = Some(reason.to_owned()),
        Some(reason) => draft.finish = Some(finish(reason)),
        None => {}
    }
    Ok(())
}

fn take_part(draft: &mut Draft, part: &Value, on_delta: OnDelta<'_>) {
    // Two words for the same; some servers send both.
    let reasoning = ["reasoning_content", "reasoning"].iter().map(|key| words(part.get(key)));
    if let Some(thought) = reasoning.into_iter().find(|thought| !thought.is_empty()) {
        draft.think(&thought, on_delta);
    }
    draft.say(&words(part.get("content")), on_delta);
    let refusal = words(part.get("refusal"));
    if !refusal.is_empty() {
        draft.refused = true;
        draft.say(&refusal, on_delta);
    }
    for call in list(part, &["tool_calls"]) {
        take_call(draft, call, on_delta);
    }
}

fn take_call(draft: &mut Draft, call: &Value, on_delta: OnDelta<'_>) {
    let arguments = match at(call, &["function", "arguments"]) {
        Some(Value::String(arguments)) => arguments.clone(),
        None => String::new(),
        // Some servers write the object itself instead of its text.
        Some(other) => other.to_string(),
    };
    let piece = CallPiece {
        place: count(call, &["index"]),
        id: text(call, &["id"]),
        name: text(call, &["function", "name"]),
        arguments: &arguments,
    };
    draft.call(piece, on_delta);
}

/// Finish reasons that mean the opposite: the server could not go on.
const BROKEN_OFF: &[&str] = &["error", "insufficient_system_resource"];

/// One answer is asked for; a server that sends more is heard once.
fn first(choices: &[Value]) -> Option<&Value> {
    choices.iter().find(|choice| count(choice, &["index"]).unwrap_or(0) == 0)
}

/// Text comes as a string or as parts with text in them.
fn words(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| text(part, &["text"])).collect(),
        _ => String::new(),
    }
}

fn usage(counted: &Value) -> Option<Usage> {
    let part = |keys: &[&str]| count(counted, keys).unwrap_or(0);
    let reported = Usage::reported(count(counted, &["prompt_tokens"])?, count(counted, &["completion_tokens"])?);
    Some(Usage {
        // One of the two: some servers have their own word for it.
        cached_tokens: part(&["prompt_tokens_details", "cached_tokens"]).max(part(&["prompt_cache_hit_tokens"])),
        reasoning_tokens: part(&["completion_tokens_details", "reasoning_tokens"]),
        ..reported
    })
}

fn finish(reason: &str) -> Finish {
    match reason {
        "stop" => Finish::Complete,
        "length" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        "tool_calls" | "function_call" => Finish::ToolCalls,
        other => Finish::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
