//! What the server says, taken into the answer.

use reknit_dialogue::{Finish, Seal, Usage};
use reknit_protocol::Value;

use super::{HIDDEN_SEAL, SEAL};
use crate::draft::{CallPiece, Draft, OnDelta};
use crate::json::{at, count, list, text};
use crate::wire::Refused;

/// Takes the whole body of an answer in one piece; says whether there was a place for one in it.
pub(crate) fn whole(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
    if text(&json, &["type"]) == Some("error") || at(&json, &["error"]).is_some() {
        return Err(Refused(json));
    }
    take_message(draft, &json);
    for block in list(&json, &["content"]) {
        take_block(draft, block, None, on_delta);
    }
    Ok(at(&json, &["content"]).is_some_and(|content| content.as_array().is_some()))
}

/// What a message says about itself, whole or in pieces.
pub(super) fn take_message(draft: &mut Draft, json: &Value) {
    if let Some(model) = text(json, &["model"]) {
        draft.model = Some(model.to_owned());
    }
    if let Some(id) = text(json, &["id"]) {
        draft.request_id.get_or_insert_with(|| id.to_owned());
    }
    if let Some(reason) = text(json, &["stop_reason"]) {
        draft.finish = Some(finish(reason));
    }
    if let Some(counted) = at(json, &["usage"]) {
        take_usage(draft, counted);
    }
}

/// A block of the answer, whole or at its beginning.
pub(super) fn take_block(draft: &mut Draft, block: &Value, place: Option<u64>, on_delta: OnDelta<'_>) {
    match text(block, &["type"]) {
        Some("text") => draft.say(text(block, &["text"]).unwrap_or_default(), on_delta),
        Some("thinking") => {
            draft.think(text(block, &["thinking"]).unwrap_or_default(), on_delta);
            if let Some(signature) = text(block, &["signature"]) {
                draft.seal_thought(Seal { format: SEAL.to_owned(), text: signature.to_owned() });
            }
        }
        Some("redacted_thinking") => {
            let data = text(block, &["data"]).unwrap_or_default();
            draft.hide_thought(Seal { format: HIDDEN_SEAL.to_owned(), text: data.to_owned() });
        }
        Some("tool_use") => {
            // In a stream it begins as an empty object, and its text follows.
            let input = at(block, &["input"]).filter(|input| place.is_none() || !is_empty(input));
            let arguments = input.map(Value::to_string).unwrap_or_default();
            let (id, name) = (text(block, &["id"]), text(block, &["name"]));
            draft.call(CallPiece { place, id, name, arguments: &arguments }, on_delta);
        }
        // Blocks of tools that run at the provider are not asked for.
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(reknit_protocol::Object::is_empty)
}

/// Counts come in parts, each the whole so far. Tokens from the cache and into it are counted apart from the others.
fn take_usage(draft: &mut Draft, counted: &Value) {
    let known = draft.usage;
    let cached_tokens = count(counted, &["cache_read_input_tokens"]).or(known.map(|known| known.cached_tokens));
    let written = count(counted, &["cache_creation_input_tokens"]).or(known.map(|known| known.cache_written_tokens));
    let (cached_tokens, cache_written_tokens) = (cached_tokens.unwrap_or(0), written.unwrap_or(0));
    let plain = count(counted, &["input_tokens"]).or_else(|| {
        let in_caches = |known: Usage| known.cached_tokens.saturating_add(known.cache_written_tokens);
        known.map(|known| known.input_tokens.saturating_sub(in_caches(known)))
    });
    let output = count(counted, &["output_tokens"]).or(known.map(|known| known.output_tokens));
    if let (Some(plain), Some(output)) = (plain, output) {
        let input = plain.saturating_add(cached_tokens).saturating_add(cache_written_tokens);
        draft.usage = Some(Usage { cached_tokens, cache_written_tokens, ..Usage::reported(input, output) });
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Complete,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "tool_use" => Finish::ToolCalls,
        "refusal" => Finish::Refusal,
        other => Finish::Other(other.to_owned()),
    }
}
