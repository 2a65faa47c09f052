//! The content of an answer as Anthropic sent it, where our fields lose the order of its blocks or a block.

use reknit_model_api::{ProviderState, ToolCall};
use reknit_protocol::{Object, Value};

use crate::json::text;
use crate::request_body::arguments;

const STATE_FORMAT: &str = "anthropic-content";

/// The content as provider state; none if text, calls and reasoning say all of it: first the reasoning, then the text, then
/// the calls.
pub(super) fn content_state(blocks: &[Value]) -> Option<ProviderState> {
    let rank = |block: &Value| match text(block, &["type"]) {
        Some("thinking" | "redacted_thinking") => Some(0),
        Some("text") => Some(1),
        Some("tool_use") => Some(2),
        _ => None,
    };
    let ranks: Option<Vec<u8>> = blocks.iter().map(rank).collect();
    let is_plain = ranks.is_some_and(|ranks| ranks.is_sorted());
    let content: Value = blocks.iter().cloned().collect();
    (!is_plain).then(|| ProviderState::new(STATE_FORMAT, content.to_string()))
}

/// The blocks to send back instead of the other fields of a message; none if they do not say the same any more.
pub(super) fn blocks_to_send(state: &ProviderState, message_text: &str, calls: &[ToolCall]) -> Option<Vec<Value>> {
    if state.format != STATE_FORMAT {
        return None;
    }
    let Ok(Value::Array(mut blocks)) = Value::parse(&state.text) else { return None };
    let is_of = |block: &Value, kind: &str| text(block, &["type"]) == Some(kind);
    let texts = blocks.iter().filter(|block| is_of(block, "text")).filter_map(|block| text(block, &["text"]));
    let ids = blocks.iter().filter(|block| is_of(block, "tool_use")).map(|block| text(block, &["id"]));
    let same_calls = ids.eq(calls.iter().map(|call| Some(call.id.as_str())));
    if texts.collect::<String>() != message_text || !same_calls {
        return None;
    }
    let mut calls = calls.iter();
    for block in &mut blocks {
        if is_of(block, "tool_use")
            && let (Some(call), Value::Object(block)) = (calls.next(), block)
        {
            block.insert("name", call.name.as_str());
            block.insert("input", arguments(&call.arguments));
        }
    }
    // The server refuses empty text blocks.
    blocks.retain(|block| !is_of(block, "text") || text(block, &["text"]).is_some_and(|text| !text.trim().is_empty()));
    Some(blocks)
}

/// The blocks of a stream, put together again.
#[derive(Debug, Default)]
pub(super) struct BlockList(Vec<StreamedBlock>);

#[derive(Debug)]
struct StreamedBlock {
    index: Option<u64>,
    block: Object,
    input: String,
}

impl BlockList {
    pub(super) fn start(&mut self, index: Option<u64>, block: &Value) {
        if let Value::Object(block) = block {
            self.0.push(StreamedBlock { index, block: block.clone(), input: String::new() });
        }
    }

    pub(super) fn add(&mut self, index: Option<u64>, delta: &Value) {
        let Some(streamed) = self.0.iter_mut().rfind(|streamed| streamed.index == index) else { return };
        for key in ["text", "thinking"] {
            let Some(more) = text(delta, &[key]) else { continue };
            match streamed.block.get_mut(key) {
                Some(Value::String(known)) => known.push_str(more),
                _ => {
                    streamed.block.insert(key, more);
                }
            }
        }
        if let Some(signature) = text(delta, &["signature"]) {
            streamed.block.insert("signature", signature);
        }
        if let Some(citation) = delta.get("citation") {
            match streamed.block.get_mut("citations") {
                Some(Value::Array(citations)) => citations.push(citation.clone()),
                _ => {
                    streamed.block.insert("citations", vec![citation.clone()]);
                }
            }
        }
        streamed.input.push_str(text(delta, &["partial_json"]).unwrap_or_default());
    }

    pub(super) fn finish(&self) -> Vec<Value> {
        let complete = |streamed: &StreamedBlock| {
            let mut block = streamed.block.clone();
            if let Ok(input) = Value::parse(&streamed.input) {
                block.insert("input", input);
            }
            Value::from(block)
        };
        self.0.iter().map(complete).collect()
    }
}
