//! Reading of responses.

use reknit_model_api::{FinishReason, ProviderState, Usage};
use reknit_protocol::Value;

use super::{REDACTED_STATE_FORMAT, STATE_FORMAT};
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, count, has_list, list, text};

/// Reads one event of a stream, an object whose only key is its type.
pub(crate) fn read_event(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) {
    let index = |event: &str| count(json, &[event, "contentBlockIndex"]);
    if let Some(call) = at(json, &["contentBlockStart", "start", "toolUse"]) {
        let (id, name) = (text(call, &["toolUseId"]), text(call, &["name"]));
        let piece = CallPiece { index: index("contentBlockStart"), id, name, arguments: "" };
        builder.add_call_piece(piece, on_delta);
    } else if let Some(delta) = at(json, &["contentBlockDelta", "delta"]) {
        builder.add_text(text(delta, &["text"]).unwrap_or_default(), on_delta);
        if let Some(arguments) = text(delta, &["toolUse", "input"]) {
            let piece = CallPiece { index: index("contentBlockDelta"), arguments, ..CallPiece::default() };
            builder.add_call_piece(piece, on_delta);
        }
        if let Some(reasoning) = at(delta, &["reasoningContent"]) {
            read_reasoning(builder, reasoning, reasoning, on_delta);
        }
    } else if at(json, &["contentBlockStop"]).is_some() {
        builder.end_call(on_delta);
    } else if let Some(stop) = at(json, &["messageStop"]) {
        read_stop(builder, stop);
    } else if let Some(metadata) = at(json, &["metadata"]) {
        builder.set_metadata(None, None, at(metadata, &["usage"]).and_then(usage));
        // The last event.
        builder.end_mark = true;
    }
}

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) -> bool {
    let Some(message) = at(json, &["output", "message"]) else { return false };
    for block in list(message, &["content"]) {
        builder.add_text(text(block, &["text"]).unwrap_or_default(), on_delta);
        if let Some(call) = at(block, &["toolUse"]) {
            let arguments = at(call, &["input"]).map_or_else(|| "{}".to_owned(), Value::to_string);
            let (id, name) = (text(call, &["toolUseId"]), text(call, &["name"]));
            let index = Some(builder.call_count());
            builder.add_call_piece(CallPiece { index, id, name, arguments: &arguments }, on_delta);
        }
        if let Some(reasoning) = at(block, &["reasoningContent"]) {
            let thought = at(reasoning, &["reasoningText"]).unwrap_or(reasoning);
            read_reasoning(builder, reasoning, thought, on_delta);
        }
    }
    builder.set_metadata(None, None, at(json, &["usage"]).and_then(usage));
    read_stop(builder, json);
    has_list(message, "content")
}

/// Reads a piece of reasoning; `thought` has its text and its signature.
fn read_reasoning(builder: &mut AnswerBuilder, reasoning: &Value, thought: &Value, on_delta: OnDelta<'_>) {
    builder.add_reasoning(text(thought, &["text"]).unwrap_or_default(), on_delta);
    if let Some(signature) = text(thought, &["signature"]) {
        builder.add_thought_state(ProviderState::new(STATE_FORMAT, signature));
    }
    if let Some(data) = text(reasoning, &["redactedContent"]) {
        builder.add_hidden_thought(ProviderState::new(REDACTED_STATE_FORMAT, data));
    }
}

fn read_stop(builder: &mut AnswerBuilder, json: &Value) {
    builder.stop_sequence = text(json, &["additionalModelResponseFields", "stop_sequence"]).map(str::to_owned);
    builder.finish = match text(json, &["stopReason"]) {
        Some("end_turn" | "stop_sequence") => Some(FinishReason::Complete),
        Some("tool_use") => Some(FinishReason::ToolCalls),
        Some("max_tokens" | "model_context_window_exceeded") => Some(FinishReason::Length),
        Some("guardrail_intervened" | "content_filtered") => Some(FinishReason::ContentFilter),
        Some(other) => Some(FinishReason::Other(other.to_owned())),
        None => builder.finish.take(),
    };
}

/// The input excludes tokens that were read from the cache or written to it.
fn usage(usage: &Value) -> Option<Usage> {
    let part = |key: &str| count(usage, &[key]).unwrap_or(0);
    let (cached_tokens, cache_written_tokens) = (part("cacheReadInputTokens"), part("cacheWriteInputTokens"));
    let input = count(usage, &["inputTokens"])?.saturating_add(cached_tokens).saturating_add(cache_written_tokens);
    Some(Usage { cached_tokens, cache_written_tokens, ..Usage::reported(input, count(usage, &["outputTokens"])?) })
}
