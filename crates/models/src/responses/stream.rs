//! Reading of stream events.

use reknit_protocol::Value;

use super::response::{keep_reasoning_item, read_annotation, read_complete, read_item, read_metadata};
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, count, text};
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};

/// Reads one event.
pub(crate) fn read_event(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> EventResult {
    let kind = text(&json, &["type"]).unwrap_or_default().to_owned();
    let delta = text(&json, &["delta"]).unwrap_or_default();
    match kind.as_str() {
        "error" | "response.failed" => return Err(ErrorBody(error_object(json))),
        _ if at(&json, &["error"]).is_some() => return Err(ErrorBody(json)),
        "response.created" => {
            if let Some(response) = at(&json, &["response"]) {
                read_metadata(builder, response);
            }
        }
        "response.output_text.delta" => builder.add_text(delta, on_delta),
        "response.output_text.annotation.added" => {
            if let Some(annotation) = at(&json, &["annotation"]) {
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
            if let Some(item) = at(&json, &["item"]).filter(|item| text(item, &["type"]) == Some("function_call")) {
                read_item(builder, item, count(&json, &["output_index"]).unwrap_or(0), on_delta);
            }
        }
        "response.function_call_arguments.delta" => {
            let index = count(&json, &["output_index"]);
            builder.add_call_piece(CallPiece { index, arguments: delta, ..CallPiece::default() }, on_delta);
        }
        "response.output_item.done" => {
            if let Some(item) = at(&json, &["item"]).filter(|item| text(item, &["type"]) == Some("reasoning")) {
                keep_reasoning_item(builder, item);
            }
        }
        "response.completed" | "response.incomplete" => {
            if let Some(response) = at(&json, &["response"]) {
                read_complete(builder, response, on_delta);
            }
            builder.end_mark = true;
            return Ok(EventOutcome::EndMark);
        }
        // Starts and ends of parts, whose content comes in other events.
        _ => {}
    }
    Ok(EventOutcome::Progress)
}

/// The object that has the `error` of a failed response as a field.
fn error_object(json: Value) -> Value {
    match at(&json, &["response"]) {
        Some(response) if at(response, &["error"]).is_some() => response.clone(),
        _ => json,
    }
}
