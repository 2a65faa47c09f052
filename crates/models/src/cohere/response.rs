//! Reading of responses.

use reknit_model_api::{Citation, FinishReason, ProviderState, Usage};
use reknit_protocol::Value;

use super::PLAN_FORMAT;
use crate::answer_builder::{AnswerBuilder, CallPiece, LastThought, OnDelta};
use crate::json::{at, count, list, text};
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};

/// Reads one event of a stream.
pub(crate) fn read_event(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> EventResult {
    if at(&json, &["error"]).is_some() {
        return Err(ErrorBody(json));
    }
    let message = &["delta", "message"];
    match text(&json, &["type"]) {
        Some("message-start") => builder.set_metadata(None, text(&json, &["id"]), None),
        Some("content-start" | "content-delta") => {
            if let Some(content) = at(&json, &[message[0], message[1], "content"]) {
                read_content(builder, content, on_delta);
            }
        }
        Some("tool-plan-delta") => {
            read_plan(builder, text(&json, &[message[0], message[1], "tool_plan"]).unwrap_or_default(), on_delta);
        }
        Some("tool-call-start" | "tool-call-delta") => {
            mark_plan(builder);
            if let Some(call) = at(&json, &[message[0], message[1], "tool_calls"]) {
                read_call(builder, call, count(&json, &["index"]), on_delta);
            }
        }
        Some("citation-start") => {
            if let Some(citation) = at(&json, &[message[0], message[1], "citations"]) {
                read_citation(builder, citation);
            }
        }
        Some("message-end") => {
            if let Some(error) = text(&json, &["delta", "error"]) {
                return Err(ErrorBody::of_message(error));
            }
            if let Some(delta) = at(&json, &["delta"]) {
                read_end(builder, delta);
            }
            builder.end_mark = true;
            return Ok(EventOutcome::EndMark);
        }
        // Ends of parts, and types that may be added.
        _ => {}
    }
    Ok(EventOutcome::Progress)
}

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> Result<bool, ErrorBody> {
    if at(&json, &["error"]).is_some() {
        return Err(ErrorBody(json));
    }
    builder.set_metadata(None, text(&json, &["id"]), None);
    let Some(message) = at(&json, &["message"]).filter(|message| message.as_object().is_some()) else {
        return Ok(false);
    };
    for content in list(message, &["content"]) {
        read_content(builder, content, on_delta);
    }
    read_plan(builder, text(message, &["tool_plan"]).unwrap_or_default(), on_delta);
    for (index, call) in (0..).zip(list(message, &["tool_calls"])) {
        mark_plan(builder);
        read_call(builder, call, Some(index), on_delta);
    }
    for citation in list(message, &["citations"]) {
        read_citation(builder, citation);
    }
    read_end(builder, &json);
    Ok(true)
}

fn read_content(builder: &mut AnswerBuilder, content: &Value, on_delta: OnDelta<'_>) {
    builder.add_reasoning(text(content, &["thinking"]).unwrap_or_default(), on_delta);
    builder.add_text(text(content, &["text"]).unwrap_or_default(), on_delta);
}

/// The plan is a thought of its own, which is sent back with the calls.
fn read_plan(builder: &mut AnswerBuilder, plan: &str, on_delta: OnDelta<'_>) {
    if !plan.is_empty() {
        if builder.last_thought != LastThought::Plan {
            builder.close_thought();
        }
        builder.add_reasoning(plan, on_delta);
        builder.last_thought = LastThought::Plan;
    }
}

fn mark_plan(builder: &mut AnswerBuilder) {
    if builder.last_thought == LastThought::Plan {
        builder.last_thought = LastThought::Open;
        builder.add_thought_state(ProviderState::new(PLAN_FORMAT, ""));
    }
}

fn read_call(builder: &mut AnswerBuilder, call: &Value, index: Option<u64>, on_delta: OnDelta<'_>) {
    let arguments = text(call, &["function", "arguments"]).unwrap_or_default();
    let (id, name) = (text(call, &["id"]), text(call, &["function", "name"]));
    builder.add_call_piece(CallPiece { index, id, name, arguments }, on_delta);
}

/// Keeps each source of a part of the text.
fn read_citation(builder: &mut AnswerBuilder, json: &Value) {
    let quoted = text(json, &["text"]).map(str::to_owned);
    for source in list(json, &["sources"]) {
        let document = at(source, &["document"]).or(at(source, &["tool_output"])).unwrap_or(source);
        let first = |keys: &[&str]| keys.iter().find_map(|key| text(document, &[key])).map(str::to_owned);
        let title = first(&["title"]).or_else(|| text(source, &["id"]).map(str::to_owned));
        builder.add_citation(Citation { url: first(&["url"]), title, text: quoted.clone() });
    }
}

fn read_end(builder: &mut AnswerBuilder, json: &Value) {
    builder.set_metadata(None, None, at(json, &["usage"]).and_then(usage));
    match text(json, &["finish_reason"]) {
        Some("COMPLETE" | "STOP_SEQUENCE") => builder.finish = Some(FinishReason::Complete),
        Some("MAX_TOKENS") => builder.finish = Some(FinishReason::Length),
        Some("TOOL_CALL") => builder.finish = Some(FinishReason::ToolCalls),
        Some(reason @ ("ERROR" | "ERROR_TOXIC" | "TIMEOUT")) => builder.aborted = Some(reason.to_lowercase()),
        Some(other) => builder.finish = Some(FinishReason::Other(other.to_lowercase())),
        None => {}
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    // All tokens, where they are counted; else those that are billed.
    let counts = |key: &str| Some((count(usage, &[key, "input_tokens"])?, count(usage, &[key, "output_tokens"])?));
    let (input, output) = counts("tokens").or_else(|| counts("billed_units"))?;
    Some(Usage { cached_tokens: count(usage, &["cached_tokens"]).unwrap_or(0), ..Usage::reported(input, output) })
}
