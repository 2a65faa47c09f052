//! Reading of stream events.

use reknit_model_api::ProviderState;
use reknit_protocol::Value;

use super::STATE_FORMAT;
use super::content_state::{BlockList, content_state};
use super::response::{read_block, read_citation, read_message};
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, count, text};
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};

/// State between events.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The index of the open block, if it is a tool call without arguments so far.
    empty_call: Option<u64>,
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

/// Reads one event.
pub(crate) fn read_event(
    blocks: &mut Blocks,
    builder: &mut AnswerBuilder,
    json: Value,
    on_delta: OnDelta<'_>,
) -> EventResult {
    let index = count(&json, &["index"]);
    match text(&json, &["type"]) {
        Some("error") => return Err(ErrorBody(json)),
        _ if at(&json, &["error"]).is_some() => return Err(ErrorBody(json)),
        Some("message_start") => {
            if let Some(message) = at(&json, &["message"]) {
                read_message(builder, message);
            }
        }
        Some("content_block_start") => {
            if let Some(block) = at(&json, &["content_block"]) {
                blocks.list.start(index, block);
                let kind = text(block, &["type"]);
                blocks.empty_call = index.filter(|_| kind == Some("tool_use"));
                if kind.is_some_and(|kind| kind != "tool_use" && kind.ends_with("tool_use")) {
                    blocks.provider_tools.push(index);
                }
                read_block(builder, block, index, on_delta);
            }
        }
        Some("content_block_delta") => {
            if let Some(delta) = at(&json, &["delta"]) {
                read_delta(blocks, builder, delta, index, on_delta);
            }
        }
        Some("content_block_stop") => {
            // A call without arguments has no text in a stream, but an empty object in a whole response.
            if let Some(index) = blocks.empty_call.take() {
                let piece = CallPiece { index: Some(index), arguments: "{}", ..CallPiece::default() };
                builder.add_call_piece(piece, on_delta);
            }
        }
        Some("message_delta") => {
            if let Some(delta) = at(&json, &["delta"]) {
                read_message(builder, delta);
            }
            read_message(builder, &json);
        }
        Some("message_stop") => {
            builder.end_mark = true;
            return Ok(EventOutcome::EndMark);
        }
        // `ping`, and types that may be added.
        _ => {}
    }
    Ok(EventOutcome::Progress)
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
                blocks.empty_call = None;
                builder.add_call_piece(CallPiece { index, arguments, ..CallPiece::default() }, on_delta);
            }
        }
        _ => {}
    }
}
