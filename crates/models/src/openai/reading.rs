//! What a server says, taken into the answer.

use reknit_dialogue::{Finish, Usage};
use serde_json::Value;

use crate::draft::{CallPiece, Draft, OnDelta};

/// What one event has brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A sign of life, which may have added to the answer.
    Progress,
    /// The mark behind the last event.
    EndMark,
    /// Nothing that can be read. It was counted.
    Nothing,
}

/// A body that reports an error instead of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused(pub(crate) Value);

/// Takes one event of a stream.
pub(crate) fn event(draft: &mut Draft, data: &[u8], on_delta: OnDelta<'_>) -> Result<Seen, Refused> {
    if data.trim_ascii() == b"[DONE]" {
        draft.end_mark = true;
        return Ok(Seen::EndMark);
    }
    let Some(json) = serde_json::from_slice::<Value>(data).ok().filter(Value::is_object) else {
        draft.skipped_events = draft.skipped_events.saturating_add(1);
        return Ok(Seen::Nothing);
    };
    take(draft, json, "delta", on_delta)?;
    Ok(Seen::Progress)
}

/// Takes the whole body of an answer in one piece; says whether there was a place for one in it.
pub(crate) fn whole(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
    let has_choices = json.get("choices").is_some_and(Value::is_array);
    take(draft, json, "message", on_delta)?;
    draft.end_mark = true;
    Ok(has_choices)
}

fn take(draft: &mut Draft, json: Value, part: &str, on_delta: OnDelta<'_>) -> Result<(), Refused> {
    if json.get("error").is_some_and(|error| !error.is_null()) {
        return Err(Refused(json));
    }
    if let Some(model) = json.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) {
        draft.model = Some(model.to_owned());
    }
    if let Some(id) = json.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
        draft.request_id.get_or_insert_with(|| id.to_owned());
    }
    if let Some(usage) = json.get("usage").and_then(usage) {
        draft.usage = Some(usage);
    }
    let Some(choice) = json.get("choices").and_then(Value::as_array).and_then(|choices| first(choices)) else {
        return Ok(());
    };
    if let Some(part) = choice.get(part) {
        take_part(draft, part, on_delta);
    }
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some(reason) if BROKEN_OFF.contains(&reason) => draft.broken_off = Some(reason.to_owned()),
        Some(reason) => draft.finish = Some(finish(reason)),
        None => {}
    }
    Ok(())
}

fn take_part(draft: &mut Draft, part: &Value, on_delta: OnDelta<'_>) {
    for key in ["reasoning_content", "reasoning"] {
        let words = text(part.get(key));
        if !words.is_empty() {
            draft.think(&words, on_delta);
            break;
        }
    }
    draft.say(&text(part.get("content")), on_delta);
    let refusal = text(part.get("refusal"));
    if !refusal.is_empty() {
        draft.refused = true;
        draft.say(&refusal, on_delta);
    }
    for call in part.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
        take_call(draft, call, on_delta);
    }
}

fn take_call(draft: &mut Draft, call: &Value, on_delta: OnDelta<'_>) {
    let function = call.get("function").unwrap_or(&Value::Null);
    let arguments = match function.get("arguments") {
        Some(Value::String(arguments)) => arguments.clone(),
        None | Some(Value::Null) => String::new(),
        // Some servers write the object itself instead of its text.
        Some(other) => other.to_string(),
    };
    let piece = CallPiece {
        place: call.get("index").and_then(Value::as_u64),
        id: call.get("id").and_then(Value::as_str),
        name: function.get("name").and_then(Value::as_str),
        arguments: &arguments,
    };
    draft.call(piece, on_delta);
}

/// Finish reasons that mean the opposite: the server could not go on.
const BROKEN_OFF: &[&str] = &["error", "insufficient_system_resource"];

/// One answer is asked for; a server that sends more is heard once.
fn first(choices: &[Value]) -> Option<&Value> {
    choices.iter().find(|choice| choice.get("index").is_none_or(|index| *index == 0))
}

/// Text comes as a string or as parts with text in them.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn usage(json: &Value) -> Option<Usage> {
    let count = |place: &str| json.pointer(place).and_then(Value::as_u64).unwrap_or(0);
    let reported = Usage::reported(json.get("prompt_tokens")?.as_u64()?, json.get("completion_tokens")?.as_u64()?);
    Some(Usage {
        // One of the two: some servers have their own word for it.
        cached_tokens: count("/prompt_tokens_details/cached_tokens").max(count("/prompt_cache_hit_tokens")),
        reasoning_tokens: count("/completion_tokens_details/reasoning_tokens"),
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
