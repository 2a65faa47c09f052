//! Reading of responses. An event of a stream has the format of a whole response.

use reknit_model_api::{FinishReason, ProviderState, Usage};
use reknit_protocol::Value;

use super::{Parts, STATE_FORMAT};
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, citation, count, list, text};

/// Reads a whole response, or one event of a stream.
pub(crate) fn read(parts: &mut Parts, builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) {
    let usage = at(json, &["usageMetadata"]).and_then(usage);
    builder.set_metadata(text(json, &["modelVersion"]), text(json, &["responseId"]), usage);
    let Some(candidate) = list(json, &["candidates"]).first() else { return };
    for part in list(candidate, &["content", "parts"]) {
        parts.add(part);
        read_part(builder, part, on_delta);
    }
    read_sources(builder, candidate);
    if let Some(reason) = text(candidate, &["finishReason"]) {
        builder.finish = Some(finish(reason));
    }
}

fn read_part(builder: &mut AnswerBuilder, part: &Value, on_delta: OnDelta<'_>) {
    let content = text(part, &["text"]).unwrap_or_default();
    if part.get("thought").and_then(Value::as_bool) == Some(true) {
        builder.add_reasoning(content, on_delta);
    } else {
        builder.add_text(content, on_delta);
    }
    if let Some(call) = at(part, &["functionCall"]) {
        let arguments = at(call, &["args"]).map_or_else(|| "{}".to_owned(), Value::to_string);
        // A new index for each: calls are never split, and two calls without ids are distinct.
        let index = Some(builder.call_count());
        let (id, name) = (text(call, &["id"]), text(call, &["name"]));
        builder.add_call_piece(CallPiece { index, id, name, arguments: &arguments }, on_delta);
        if let Some(signature) = text(part, &["thoughtSignature"]) {
            builder.add_call_state(ProviderState::new(STATE_FORMAT, signature));
        }
    }
}

/// Keeps the pages that the answer rests on, and the works that it quotes.
fn read_sources(builder: &mut AnswerBuilder, candidate: &Value) {
    for chunk in list(candidate, &["groundingMetadata", "groundingChunks"]) {
        if let Some(page) = at(chunk, &["web"]).or(at(chunk, &["retrievedContext"])) {
            builder.add_citation(citation(page, "uri", "title", "text"));
        }
    }
    for key in ["citationSources", "citations"] {
        for source in list(candidate, &["citationMetadata", key]) {
            builder.add_citation(citation(source, "uri", "title", "text"));
        }
    }
}

/// The error of a request that the provider blocked before it reached the model.
pub(crate) fn blocked(json: &Value) -> Option<Value> {
    let reason = text(json, &["promptFeedback", "blockReason"])?;
    let message = text(json, &["promptFeedback", "blockReasonMessage"]);
    let message = message.map_or_else(|| format!("the request was blocked ({reason})"), str::to_owned);
    Some(object! {"error": object! {"status": "content_filter", "message": message}})
}

fn usage(usage: &Value) -> Option<Usage> {
    let part = |key: &str| count(usage, &[key]).unwrap_or(0);
    let reasoning_tokens = part("thoughtsTokenCount");
    // Reasoning is not part of the candidates' tokens, nor is the input of the provider's own tools part of the prompt's.
    let input = count(usage, &["promptTokenCount"])?.saturating_add(part("toolUsePromptTokenCount"));
    let output = part("candidatesTokenCount").saturating_add(reasoning_tokens);
    Some(Usage { cached_tokens: part("cachedContentTokenCount"), reasoning_tokens, ..Usage::reported(input, output) })
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Complete,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_lowercase()),
    }
}
