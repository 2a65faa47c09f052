//! Reading of responses and of the events of streams.

use reknit_model_api::{FinishReason, ProviderState, Usage};
use reknit_protocol::Value;

use super::STATE_FORMAT;
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, citation, count, has_list, list, text};

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) -> bool {
    read_complete(builder, json, on_delta);
    has_list(json, "output")
}

/// Reads one event of a stream.
pub(crate) fn read_event(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) {
    let delta = text(json, &["delta"]).unwrap_or_default();
    match text(json, &["type"]).unwrap_or_default() {
        "response.created" => {
            if let Some(response) = at(json, &["response"]) {
                read_metadata(builder, response);
            }
        }
        "response.output_text.delta" => builder.add_text(delta, on_delta),
        "response.output_text.annotation.added" => {
            if let Some(annotation) = at(json, &["annotation"]) {
                read_annotation(builder, annotation);
            }
        }
        "response.refusal.delta" => {
            builder.refused = true;
            builder.add_text(delta, on_delta);
        }
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            builder.add_reasoning(delta, on_delta);
        }
        "response.output_item.added" => {
            if let Some(item) = at(json, &["item"]).filter(|item| text(item, &["type"]) == Some("function_call")) {
                read_item(builder, item, count(json, &["output_index"]).unwrap_or(0), on_delta);
            }
        }
        "response.function_call_arguments.delta" => {
            let index = count(json, &["output_index"]);
            builder.add_call_piece(CallPiece { index, arguments: delta, ..CallPiece::default() }, on_delta);
        }
        "response.output_item.done" => {
            if let Some(item) = at(json, &["item"]).filter(|item| text(item, &["type"]) == Some("reasoning")) {
                keep_reasoning_item(builder, item);
            }
        }
        "response.completed" | "response.incomplete" => {
            if let Some(response) = at(json, &["response"]) {
                read_complete(builder, response, on_delta);
            }
            builder.end_mark = true;
        }
        // Starts and ends of parts, whose content comes in other events.
        _ => {}
    }
}

/// Reads a complete response. In a stream it is the last event, and its output counts only if no piece came before.
fn read_complete(builder: &mut AnswerBuilder, response: &Value, on_delta: OnDelta<'_>) {
    if !builder.has_begun() {
        for (index, item) in (0..).zip(list(response, &["output"])) {
            read_item(builder, item, index, on_delta);
        }
    }
    read_metadata(builder, response);
}

/// Reads the metadata of a response, which is sent at its start and at its end.
fn read_metadata(builder: &mut AnswerBuilder, json: &Value) {
    builder.set_metadata(text(json, &["model"]), text(json, &["id"]), at(json, &["usage"]).and_then(usage));
    match text(json, &["status"]) {
        Some("completed") => builder.finish = Some(FinishReason::Complete),
        Some("incomplete") => builder.finish = Some(incomplete(text(json, &["incomplete_details", "reason"]))),
        Some("cancelled") => builder.aborted = Some("cancelled".to_owned()),
        // `in_progress` and `queued` are not final; `failed` comes with an error.
        _ => {}
    }
}

fn read_item(builder: &mut AnswerBuilder, item: &Value, index: u64, on_delta: OnDelta<'_>) {
    match text(item, &["type"]) {
        Some("message") => {
            for part in list(item, &["content"]) {
                builder.add_text(text(part, &["text"]).unwrap_or_default(), on_delta);
                for annotation in list(part, &["annotations"]) {
                    read_annotation(builder, annotation);
                }
                if let Some(refusal) = text(part, &["refusal"]) {
                    builder.refused = true;
                    builder.add_text(refusal, on_delta);
                }
            }
        }
        Some("function_call") => {
            let arguments = text(item, &["arguments"]).unwrap_or_default();
            let (id, name) = (text(item, &["call_id"]), text(item, &["name"]));
            builder.add_call_piece(CallPiece { index: Some(index), id, name, arguments }, on_delta);
        }
        Some("reasoning") => {
            for part in list(item, &["summary"]).iter().chain(list(item, &["content"])) {
                builder.add_reasoning(text(part, &["text"]).unwrap_or_default(), on_delta);
            }
            keep_reasoning_item(builder, item);
        }
        // Items of the provider's own tools, which are never requested.
        _ => {}
    }
}

fn read_annotation(builder: &mut AnswerBuilder, annotation: &Value) {
    let source = citation(annotation, "url", "title", "quote");
    let title = source.title.or_else(|| text(annotation, &["filename"]).map(str::to_owned));
    builder.add_citation(reknit_model_api::Citation { title, ..source });
}

/// Keeps a reasoning item that can be sent back. One without encrypted content exists only on the server.
fn keep_reasoning_item(builder: &mut AnswerBuilder, item: &Value) {
    if text(item, &["encrypted_content"]).is_some() {
        builder.add_thought_state(ProviderState::new(STATE_FORMAT, item.to_string()));
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let reported = Usage::reported(count(usage, &["input_tokens"])?, count(usage, &["output_tokens"])?);
    Some(Usage {
        cached_tokens: count(usage, &["input_tokens_details", "cached_tokens"]).unwrap_or(0),
        reasoning_tokens: count(usage, &["output_tokens_details", "reasoning_tokens"]).unwrap_or(0),
        ..reported
    })
}

fn incomplete(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("max_output_tokens") => FinishReason::Length,
        Some("content_filter") => FinishReason::ContentFilter,
        other => FinishReason::Other(other.unwrap_or("incomplete").to_owned()),
    }
}
