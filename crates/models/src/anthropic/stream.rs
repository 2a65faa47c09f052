//! The events of a stream.

use reknit_dialogue::Seal;
use reknit_protocol::Value;

use super::SEAL;
use super::reading::{take_block, take_message};
use crate::draft::{CallPiece, Draft, OnDelta};
use crate::json::{at, count, text};
use crate::wire::{Refused, Seen};

/// What has to be remembered between two events: whether the block that is open is a call without arguments so far.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    empty_call: Option<u64>,
}

/// Takes one event.
pub(crate) fn event(
    blocks: &mut Blocks,
    draft: &mut Draft,
    json: Value,
    on_delta: OnDelta<'_>,
) -> Result<Seen, Refused> {
    let place = count(&json, &["index"]);
    match text(&json, &["type"]) {
        Some("error") => return Err(Refused(json)),
        _ if at(&json, &["error"]).is_some() => return Err(Refused(json)),
        Some("message_start") => {
            if let Some(message) = at(&json, &["message"]) {
                take_message(draft, message);
            }
        }
        Some("content_block_start") => {
            if let Some(block) = at(&json, &["content_block"]) {
                blocks.empty_call = place.filter(|_| text(block, &["type"]) == Some("tool_use"));
                take_block(draft, block, place, on_delta);
            }
        }
        Some("content_block_delta") => {
            if let Some(delta) = at(&json, &["delta"]) {
                take_delta(blocks, draft, delta, place, on_delta);
            }
        }
        Some("content_block_stop") => {
            // A call without arguments has no text at all here; an answer in one piece has an empty object.
            if let Some(place) = blocks.empty_call.take() {
                draft.call(CallPiece { place: Some(place), arguments: "{}", ..CallPiece::default() }, on_delta);
            }
        }
        Some("message_delta") => {
            if let Some(delta) = at(&json, &["delta"]) {
                take_message(draft, delta);
            }
            take_message(draft, &json);
        }
        Some("message_stop") => {
            draft.end_mark = true;
            return Ok(Seen::EndMark);
        }
        // `ping`, and whatever may be added.
        _ => {}
    }
    Ok(Seen::Progress)
}

fn take_delta(blocks: &mut Blocks, draft: &mut Draft, delta: &Value, place: Option<u64>, on_delta: OnDelta<'_>) {
    match text(delta, &["type"]) {
        Some("text_delta") => draft.say(text(delta, &["text"]).unwrap_or_default(), on_delta),
        Some("thinking_delta") => draft.think(text(delta, &["thinking"]).unwrap_or_default(), on_delta),
        Some("signature_delta") => {
            if let Some(signature) = text(delta, &["signature"]) {
                draft.seal_thought(Seal { format: SEAL.to_owned(), text: signature.to_owned() });
            }
        }
        Some("input_json_delta") => {
            if let Some(arguments) = text(delta, &["partial_json"]) {
                blocks.empty_call = None;
                draft.call(CallPiece { place, arguments, ..CallPiece::default() }, on_delta);
            }
        }
        _ => {}
    }
}
