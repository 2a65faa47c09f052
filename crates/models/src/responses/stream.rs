//! The events of a stream.

use reknit_protocol::Value;

use super::reading::{seal_reasoning, take_item, take_response};
use crate::draft::{CallPiece, Draft, OnDelta};
use crate::json::{at, count, list, text};
use crate::wire::{Refused, Seen};

/// Takes one event.
pub(crate) fn event(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<Seen, Refused> {
    let kind = text(&json, &["type"]).unwrap_or_default().to_owned();
    let delta = text(&json, &["delta"]).unwrap_or_default();
    match kind.as_str() {
        "error" | "response.failed" => return Err(Refused(failure(json))),
        _ if at(&json, &["error"]).is_some() => return Err(Refused(json)),
        "response.created" => {
            if let Some(response) = at(&json, &["response"]) {
                take_response(draft, response);
            }
        }
        "response.output_text.delta" => draft.say(delta, on_delta),
        "response.refusal.delta" => {
            draft.refused = true;
            draft.say(delta, on_delta);
        }
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => draft.think(delta, on_delta),
        "response.output_item.added" => {
            if let Some(item) = at(&json, &["item"]).filter(|item| text(item, &["type"]) == Some("function_call")) {
                take_item(draft, item, count(&json, &["output_index"]).unwrap_or(0), on_delta);
            }
        }
        "response.function_call_arguments.delta" => {
            let place = count(&json, &["output_index"]);
            draft.call(CallPiece { place, arguments: delta, ..CallPiece::default() }, on_delta);
        }
        "response.output_item.done" => {
            if let Some(item) = at(&json, &["item"]).filter(|item| text(item, &["type"]) == Some("reasoning")) {
                seal_reasoning(draft, item);
            }
        }
        "response.completed" | "response.incomplete" => {
            if let Some(response) = at(&json, &["response"]) {
                end(draft, response, on_delta);
            }
            draft.end_mark = true;
            return Ok(Seen::EndMark);
        }
        // Beginnings and ends of parts, whose pieces have said it all.
        _ => {}
    }
    Ok(Seen::Progress)
}

/// The last event has the whole answer once more. It counts only if no piece of it came before.
fn end(draft: &mut Draft, response: &Value, on_delta: OnDelta<'_>) {
    if !draft.is_begun() {
        for (place, item) in (0..).zip(list(response, &["output"])) {
            take_item(draft, item, place, on_delta);
        }
    }
    take_response(draft, response);
}

/// The error of a response that has failed, where others have theirs.
fn failure(json: Value) -> Value {
    match at(&json, &["response"]) {
        Some(response) if at(response, &["error"]).is_some() => response.clone(),
        _ => json,
    }
}
