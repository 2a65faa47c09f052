//! What the server says, taken into the answer. An event of a stream has the form of a whole answer.

use reknit_dialogue::{Finish, Seal, Usage};
use reknit_protocol::Value;

use super::SEAL;
use crate::draft::{CallPiece, Draft, OnDelta};
use crate::json::{at, count, list, text};
use crate::rendered::object;
use crate::wire::{Refused, Seen};

/// Takes one event of a stream.
pub(crate) fn event(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<Seen, Refused> {
    take(draft, json, on_delta)?;
    Ok(Seen::Progress)
}

/// Takes the whole body of an answer in one piece; says whether there was a place for one in it.
pub(crate) fn whole(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
    let has_candidates = at(&json, &["candidates"]).is_some_and(|candidates| candidates.as_array().is_some());
    take(draft, json, on_delta)?;
    Ok(has_candidates)
}

fn take(draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<(), Refused> {
    if at(&json, &["error"]).is_some() {
        return Err(Refused(json));
    }
    if let Some(reason) = text(&json, &["promptFeedback", "blockReason"]) {
        return Err(Refused(blocked(&json, reason)));
    }
    if let Some(model) = text(&json, &["modelVersion"]) {
        draft.model = Some(model.to_owned());
    }
    if let Some(id) = text(&json, &["responseId"]) {
        draft.request_id.get_or_insert_with(|| id.to_owned());
    }
    if let Some(counted) = at(&json, &["usageMetadata"]).and_then(usage) {
        draft.usage = Some(counted);
    }
    let Some(candidate) = list(&json, &["candidates"]).first() else { return Ok(()) };
    for part in list(candidate, &["content", "parts"]) {
        take_part(draft, part, on_delta);
    }
    if let Some(reason) = text(candidate, &["finishReason"]) {
        draft.finish = Some(finish(reason));
    }
    Ok(())
}

fn take_part(draft: &mut Draft, part: &Value, on_delta: OnDelta<'_>) {
    let words = text(part, &["text"]).unwrap_or_default();
    if part.get("thought").and_then(Value::as_bool) == Some(true) {
        draft.think(words, on_delta);
    } else {
        draft.say(words, on_delta);
    }
    if let Some(call) = at(part, &["functionCall"]) {
        let arguments = at(call, &["args"]).map_or_else(|| "{}".to_owned(), Value::to_string);
        // A place of its own: calls come whole, and two without ids are two.
        let place = Some(draft.call_count());
        let (id, name) = (text(call, &["id"]), text(call, &["name"]));
        draft.call(CallPiece { place, id, name, arguments: &arguments }, on_delta);
        if let Some(signature) = text(part, &["thoughtSignature"]) {
            draft.seal_call(Seal { format: SEAL.to_owned(), text: signature.to_owned() });
        }
    }
}

/// The question was not let through to the model, which is said in the place of an answer.
fn blocked(json: &Value, reason: &str) -> Value {
    let words = text(json, &["promptFeedback", "blockReasonMessage"]);
    let message = words.map_or_else(|| format!("the question was blocked ({reason})"), str::to_owned);
    let error = object([("status", "content_filter".into()), ("message", message.into())]);
    object([("error", error.into())]).into()
}

fn usage(counted: &Value) -> Option<Usage> {
    let part = |key: &str| count(counted, &[key]).unwrap_or(0);
    let reasoning_tokens = part("thoughtsTokenCount");
    // Thoughts are counted apart from the words; what a tool of the provider read, apart from the question.
    let input = count(counted, &["promptTokenCount"])?.saturating_add(part("toolUsePromptTokenCount"));
    let output = part("candidatesTokenCount").saturating_add(reasoning_tokens);
    Some(Usage { cached_tokens: part("cachedContentTokenCount"), reasoning_tokens, ..Usage::reported(input, output) })
}

fn finish(reason: &str) -> Finish {
    match reason {
        "STOP" => Finish::Complete,
        "MAX_TOKENS" => Finish::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Finish::ContentFilter,
        other => Finish::Other(other.to_lowercase()),
    }
}
