//! What the server says, taken into the answer.

use reknit_dialogue::{Finish, Seal, Usage};
use reknit_protocol::Value;

use super::SEAL;
use crate::draft::{CallPiece, Draft, OnDelta};
use crate::json::{at, count, list, text};
use crate::wire::Refused;

/// Takes the whole body of an answer in one piece; says whether there was a place for one in it.
pub(crate) fn whole(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
    if at(&json, &["error"]).is_some() {
        return Err(Refused(json));
    }
    for (place, item) in (0..).zip(list(&json, &["output"])) {
        take_item(draft, item, place, on_delta);
    }
    take_response(draft, &json);
    Ok(at(&json, &["output"]).is_some_and(|output| output.as_array().is_some()))
}

/// What a response says about itself, at its beginning and at its end.
pub(super) fn take_response(draft: &mut Draft, json: &Value) {
    if let Some(model) = text(json, &["model"]) {
        draft.model = Some(model.to_owned());
    }
    if let Some(id) = text(json, &["id"]) {
        draft.request_id.get_or_insert_with(|| id.to_owned());
    }
    if let Some(counted) = at(json, &["usage"]).and_then(usage) {
        draft.usage = Some(counted);
    }
    match text(json, &["status"]) {
        Some("completed") => draft.finish = Some(Finish::Complete),
        Some("incomplete") => draft.finish = Some(incomplete(text(json, &["incomplete_details", "reason"]))),
        Some("cancelled") => draft.broken_off = Some("cancelled".to_owned()),
        // `in_progress` and `queued` say nothing about the end; `failed` comes with an error.
        _ => {}
    }
}

/// One item of the output, whole.
pub(super) fn take_item(draft: &mut Draft, item: &Value, place: u64, on_delta: OnDelta<'_>) {
    match text(item, &["type"]) {
        Some("message") => {
            for part in list(item, &["content"]) {
                draft.say(text(part, &["text"]).unwrap_or_default(), on_delta);
                if let Some(words) = text(part, &["refusal"]) {
                    draft.refused = true;
                    draft.say(words, on_delta);
                }
            }
        }
        Some("function_call") => {
            let arguments = text(item, &["arguments"]).unwrap_or_default();
            let (id, name) = (text(item, &["call_id"]), text(item, &["name"]));
            draft.call(CallPiece { place: Some(place), id, name, arguments }, on_delta);
        }
        Some("reasoning") => {
            for part in list(item, &["summary"]).iter().chain(list(item, &["content"])) {
                draft.think(text(part, &["text"]).unwrap_or_default(), on_delta);
            }
            seal_reasoning(draft, item);
        }
        // Items of tools that run at the provider are not asked for.
        _ => {}
    }
}

/// Keeps an item that can be sent back: without its encrypted part the server would have to remember it.
pub(super) fn seal_reasoning(draft: &mut Draft, item: &Value) {
    if text(item, &["encrypted_content"]).is_some() {
        draft.seal_thought(Seal { format: SEAL.to_owned(), text: item.to_string() });
    }
}

fn usage(counted: &Value) -> Option<Usage> {
    let reported = Usage::reported(count(counted, &["input_tokens"])?, count(counted, &["output_tokens"])?);
    Some(Usage {
        cached_tokens: count(counted, &["input_tokens_details", "cached_tokens"]).unwrap_or(0),
        reasoning_tokens: count(counted, &["output_tokens_details", "reasoning_tokens"]).unwrap_or(0),
        ..reported
    })
}

fn incomplete(reason: Option<&str>) -> Finish {
    match reason {
        Some("max_output_tokens") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        other => Finish::Other(other.unwrap_or("incomplete").to_owned()),
    }
}
