//! Reading of responses and of the events of streams.

use reknit_model_api::{FinishReason, ProviderState, Usage};
use reknit_protocol::Value;

use super::content_state::{BlockList, content_state};
use super::{REDACTED_STATE_FORMAT, STATE_FORMAT};
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, citation, count, has_list, list, text};

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) -> bool {
    read_message(builder, json);
    for block in list(json, &["content"]) {
        read_block(builder, block, None, on_delta);
    }
    builder.content_state = content_state(list(json, &["content"]));
    has_list(json, "content")
}

#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The indexes of the blocks that are tools of the provider, which it runs itself.
    provider_tools: Vec<Option<u64>>,
    list: BlockList,
}

impl Blocks {
    /// The provider's own form of the answer, if it is needed.
    pub(crate) fn content_state(&self) -> Option<ProviderState> {
        content_state(&self.list.finish())
    }
}

pub(crate) fn read_event(blocks: &mut Blocks, builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) {
    let index = count(json, &["index"]);
    match text(json, &["type"]) {
        Some("message_start") => {
            if let Some(message) = at(json, &["message"]) {
                read_message(builder, message);
            }
        }
        Some("content_block_start") => {
            if let Some(block) = at(json, &["content_block"]) {
                blocks.list.start(index, block);
                let kind = text(block, &["type"]);
                if kind.is_some_and(|kind| kind != "tool_use" && kind.ends_with("tool_use")) {
                    blocks.provider_tools.push(index);
                }
                read_block(builder, block, index, on_delta);
            }
        }
        Some("content_block_delta") => {
            if let Some(delta) = at(json, &["delta"]) {
                read_delta(blocks, builder, delta, index, on_delta);
            }
        }
        Some("content_block_stop") => builder.end_call(on_delta),
        Some("message_delta") => {
            if let Some(delta) = at(json, &["delta"]) {
                read_message(builder, delta);
            }
            read_message(builder, json);
        }
        Some("message_stop") => builder.end_mark = true,
        // `ping`, and types that may be added.
        _ => {}
    }
}

fn read_delta(
    blocks: &mut Blocks,
    builder: &mut AnswerBuilder,
    delta: &Value,
    index: Option<u64>,
    on_delta: OnDelta<'_>,
) {
    blocks.list.add(index, delta);
    match text(delta, &["type"]) {
        Some("citations_delta") => {
            if let Some(citation) = at(delta, &["citation"]) {
                read_citation(builder, citation);
            }
        }
        Some("text_delta") => builder.add_text(text(delta, &["text"]).unwrap_or_default(), on_delta),
        Some("thinking_delta") => builder.add_reasoning(text(delta, &["thinking"]).unwrap_or_default(), on_delta),
        Some("signature_delta") => {
            if let Some(signature) = text(delta, &["signature"]) {
                builder.add_thought_state(ProviderState::new(STATE_FORMAT, signature));
            }
        }
        Some("input_json_delta") => {
            if let Some(arguments) = text(delta, &["partial_json"]).filter(|_| !blocks.provider_tools.contains(&index))
            {
                builder.add_call_piece(CallPiece { index, arguments, ..CallPiece::default() }, on_delta);
            }
        }
        _ => {}
    }
}

/// Reads the metadata of a message, or the part of it that an event contains.
fn read_message(builder: &mut AnswerBuilder, json: &Value) {
    builder.set_metadata(text(json, &["model"]), text(json, &["id"]), None);
    if let Some(reason) = text(json, &["stop_reason"]) {
        builder.finish = Some(finish(reason));
    }
    if let Some(stop) = text(json, &["stop_sequence"]) {
        builder.stop_sequence = Some(stop.to_owned());
    }
    if let Some(usage) = at(json, &["usage"]) {
        read_usage(builder, usage);
    }
}

/// Reads a content block, whole or at the start of its stream.
fn read_block(builder: &mut AnswerBuilder, block: &Value, index: Option<u64>, on_delta: OnDelta<'_>) {
    match text(block, &["type"]) {
        Some("text") => {
            builder.add_text(text(block, &["text"]).unwrap_or_default(), on_delta);
            for citation in list(block, &["citations"]) {
                read_citation(builder, citation);
            }
        }
        Some("thinking") => {
            builder.add_reasoning(text(block, &["thinking"]).unwrap_or_default(), on_delta);
            if let Some(signature) = text(block, &["signature"]) {
                builder.add_thought_state(ProviderState::new(STATE_FORMAT, signature));
            }
        }
        Some("redacted_thinking") => {
            let data = text(block, &["data"]).unwrap_or_default();
            builder.add_hidden_thought(ProviderState::new(REDACTED_STATE_FORMAT, data));
        }
        Some("tool_use") => {
            // In a stream the input starts as an empty object, and its text follows.
            let input = at(block, &["input"]).filter(|input| index.is_none() || !is_empty(input));
            let arguments = input.map(Value::to_string).unwrap_or_default();
            let (id, name) = (text(block, &["id"]), text(block, &["name"]));
            builder.add_call_piece(CallPiece { index, id, name, arguments: &arguments }, on_delta);
        }
        // Blocks of the provider's own tools, which are never requested.
        _ => {}
    }
}

fn read_citation(builder: &mut AnswerBuilder, json: &Value) {
    let source = citation(json, "url", "title", "cited_text");
    let title = source.title.or_else(|| text(json, &["document_title"]).map(str::to_owned));
    builder.add_citation(reknit_model_api::Citation { title, ..source });
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(reknit_protocol::Object::is_empty)
}

/// Updates the usage. Each event has the running totals of some counts; `input_tokens` excludes cached and cache-written
/// tokens.
fn read_usage(builder: &mut AnswerBuilder, usage: &Value) {
    let known = builder.usage;
    let cached_tokens = count(usage, &["cache_read_input_tokens"]).or(known.map(|known| known.cached_tokens));
    let written = count(usage, &["cache_creation_input_tokens"]).or(known.map(|known| known.cache_written_tokens));
    let (cached_tokens, cache_written_tokens) = (cached_tokens.unwrap_or(0), written.unwrap_or(0));
    let uncached = count(usage, &["input_tokens"]).or_else(|| {
        let in_cache = |known: Usage| known.cached_tokens.saturating_add(known.cache_written_tokens);
        known.map(|known| known.input_tokens.saturating_sub(in_cache(known)))
    });
    let output = count(usage, &["output_tokens"]).or(known.map(|known| known.output_tokens));
    if let (Some(uncached), Some(output)) = (uncached, output) {
        let input = uncached.saturating_add(cached_tokens).saturating_add(cache_written_tokens);
        let reasoning = count(usage, &["output_tokens_details", "thinking_tokens"]);
        let reasoning_tokens = reasoning.or(known.map(|known| known.reasoning_tokens)).unwrap_or(0);
        builder.usage =
            Some(Usage { cached_tokens, cache_written_tokens, reasoning_tokens, ..Usage::reported(input, output) });
    }
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Complete,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::Refusal,
        other => FinishReason::Other(other.to_owned()),
    }
}
