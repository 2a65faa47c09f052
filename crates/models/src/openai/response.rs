//! Reading of responses.

use reknit_dialogue::{FinishReason, Usage};
use reknit_protocol::Value;

use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, count, has_list, list, text};
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};

/// Reads one event of a stream.
pub(crate) fn read_event(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> EventResult {
    read(builder, json, "delta", on_delta)?;
    Ok(EventOutcome::Progress)
}

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> Result<bool, ErrorBody> {
    let has_choices = has_list(&json, "choices");
    read(builder, json, "message", on_delta)?;
    Ok(has_choices)
}

fn read(builder: &mut AnswerBuilder, json: Value, part: &str, on_delta: OnDelta<'_>) -> Result<(), ErrorBody> {
    if at(&json, &["error"]).is_some() {
        return Err(ErrorBody(json));
    }
    builder.set_metadata(text(&json, &["model"]), text(&json, &["id"]), at(&json, &["usage"]).and_then(usage));
    // Only one choice is requested, but some servers send more.
    let mut choices = list(&json, &["choices"]).iter();
    let Some(choice) = choices.find(|choice| count(choice, &["index"]).unwrap_or(0) == 0) else { return Ok(()) };
    if let Some(part) = at(choice, &[part]) {
        read_part(builder, part, on_delta);
    }
    match text(choice, &["finish_reason"]) {
        Some(reason) if ABORTED.contains(&reason) => builder.aborted = Some(reason.to_owned()),
        Some(reason) => builder.finish = Some(finish(reason)),
        None => {}
    }
    Ok(())
}

fn read_part(builder: &mut AnswerBuilder, part: &Value, on_delta: OnDelta<'_>) {
    // Two names for the same; some servers send both.
    let reasoning = ["reasoning_content", "reasoning"].iter().map(|key| content_text(part.get(key)));
    if let Some(thought) = reasoning.into_iter().find(|thought| !thought.is_empty()) {
        builder.add_reasoning(&thought, on_delta);
    }
    builder.add_text(&content_text(part.get("content")), on_delta);
    let refusal = content_text(part.get("refusal"));
    if !refusal.is_empty() {
        builder.refused = true;
        builder.add_text(&refusal, on_delta);
    }
    for call in list(part, &["tool_calls"]) {
        read_call(builder, call, on_delta);
    }
}

fn read_call(builder: &mut AnswerBuilder, call: &Value, on_delta: OnDelta<'_>) {
    let arguments = match at(call, &["function", "arguments"]) {
        Some(Value::String(arguments)) => arguments.clone(),
        None => String::new(),
        // Some servers send the object itself instead of its text.
        Some(other) => other.to_string(),
    };
    let piece = CallPiece {
        index: count(call, &["index"]),
        id: text(call, &["id"]),
        name: text(call, &["function", "name"]),
        arguments: &arguments,
    };
    builder.add_call_piece(piece, on_delta);
}

/// Finish reasons that report an error of the server.
const ABORTED: &[&str] = &["error", "insufficient_system_resource"];

/// Content is a string, or a list of parts with text.
fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| text(part, &["text"])).collect(),
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let part = |keys: &[&str]| count(usage, keys).unwrap_or(0);
    let reported = Usage::reported(count(usage, &["prompt_tokens"])?, count(usage, &["completion_tokens"])?);
    Some(Usage {
        // Servers send one of the two.
        cached_tokens: part(&["prompt_tokens_details", "cached_tokens"]).max(part(&["prompt_cache_hit_tokens"])),
        reasoning_tokens: part(&["completion_tokens_details", "reasoning_tokens"]),
        ..reported
    })
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Complete,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        other => FinishReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
