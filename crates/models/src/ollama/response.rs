//! Reading of responses. A line of a stream has the format of a whole response.

use reknit_model_api::{FinishReason, Usage};
use reknit_protocol::Value;

use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, count, list, text};
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};

/// Reads one line of a stream.
pub(crate) fn read_event(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> EventResult {
    if at(&json, &["error"]).is_some() {
        return Err(ErrorBody(json));
    }
    let is_done = json.get("done").and_then(Value::as_bool) == Some(true);
    builder.set_metadata(text(&json, &["model"]), None, usage(&json).filter(|_| is_done));
    if let Some(message) = at(&json, &["message"]) {
        builder.add_reasoning(text(message, &["thinking"]).unwrap_or_default(), on_delta);
        builder.add_text(text(message, &["content"]).unwrap_or_default(), on_delta);
        for call in list(message, &["tool_calls"]) {
            let arguments = match at(call, &["function", "arguments"]) {
                Some(Value::String(arguments)) => arguments.clone(),
                Some(other) => other.to_string(),
                None => "{}".to_owned(),
            };
            // A new index for each: calls are never split, and two calls without ids are distinct.
            let index = Some(builder.call_count());
            let (id, name) = (text(call, &["id"]), text(call, &["function", "name"]));
            builder.add_call_piece(CallPiece { index, id, name, arguments: &arguments }, on_delta);
        }
    }
    if !is_done {
        return Ok(EventOutcome::Progress);
    }
    builder.finish = Some(match text(&json, &["done_reason"]) {
        Some("stop") | None => FinishReason::Complete,
        Some("length") => FinishReason::Length,
        Some(other) => FinishReason::Other(other.to_owned()),
    });
    builder.end_mark = true;
    Ok(EventOutcome::EndMark)
}

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: Value, on_delta: OnDelta<'_>) -> Result<bool, ErrorBody> {
    let has_message = at(&json, &["message"]).is_some_and(|message| message.as_object().is_some());
    read_event(builder, json, on_delta).map(|_| has_message)
}

fn usage(json: &Value) -> Option<Usage> {
    // A prompt that was read before has no count of its own.
    Some(Usage::reported(count(json, &["prompt_eval_count"]).unwrap_or(0), count(json, &["eval_count"])?))
}
