//! Reading of responses.

use reknit_model_api::{Citation, FinishReason, Money, Usage};
use reknit_protocol::Value;

use super::ReasoningDetails;
use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::json::{at, citation, count, list, money, text};

/// Reads a whole response, or one event of a stream. `part` is the field of a choice with the message or a piece of it.
pub(crate) fn read(
    details: &mut ReasoningDetails,
    builder: &mut AnswerBuilder,
    json: &Value,
    part: &str,
    on_delta: OnDelta<'_>,
) {
    builder.set_metadata(text(json, &["model"]), text(json, &["id"]), at(json, &["usage"]).and_then(usage));
    builder.reported_cost = reported_cost(json).or(builder.reported_cost);
    read_sources(builder, json);
    // Only one choice is requested, but some servers send more.
    let mut choices = list(json, &["choices"]).iter();
    let Some(choice) = choices.find(|choice| count(choice, &["index"]).unwrap_or(0) == 0) else { return };
    if let Some(part) = at(choice, &[part]) {
        read_part(builder, part, on_delta);
        details.add(list(part, &["reasoning_details"]));
    }
    // Two names for the same; a number is the id of a token.
    if let Some(stop) = text(choice, &["stop_reason"]).or(text(choice, &["matched_stop"])) {
        builder.stop_sequence = Some(stop.to_owned());
    }
    match text(choice, &["finish_reason"]) {
        Some(reason) if ABORTED.contains(&reason) => builder.aborted = Some(reason.to_owned()),
        Some(reason) => builder.finish = Some(finish(reason)),
        None => {}
    }
}

fn read_part(builder: &mut AnswerBuilder, part: &Value, on_delta: OnDelta<'_>) {
    // Two names for the same; some servers send both.
    let reasoning = ["reasoning_content", "reasoning"].iter().map(|key| content_text(part.get(key)));
    if let Some(thought) = reasoning.into_iter().find(|thought| !thought.is_empty()) {
        builder.add_reasoning(&thought, on_delta);
    }
    builder.add_text(&content_text(part.get("content")), on_delta);
    let refusal = content_text(part.get("refusal"));
    if !refusal.is_empty() {
        builder.refused = true;
        builder.add_text(&refusal, on_delta);
    }
    for call in list(part, &["tool_calls"]) {
        read_call(builder, call, on_delta);
    }
    for annotation in list(part, &["annotations"]) {
        if let Some(source) = at(annotation, &["url_citation"]) {
            builder.add_citation(citation(source, "url", "title", "content"));
        }
    }
}

/// The cost that routers and some providers report, in dollars.
fn reported_cost(json: &Value) -> Option<Money> {
    let ticks = || Some(Money::from_nanos(count(json, &["usage", "cost_in_usd_ticks"])?.div_ceil(10)));
    money(json, &["usage", "cost"]).or_else(|| money(json, &["usage", "cost", "total_cost"])).or_else(ticks)
}

/// The sources that providers with a search of their own list beside the choices.
fn read_sources(builder: &mut AnswerBuilder, json: &Value) {
    let results = list(json, &["search_results"]);
    for result in results {
        builder.add_citation(citation(result, "url", "title", "snippet"));
    }
    if results.is_empty() {
        for url in list(json, &["citations"]).iter().filter_map(Value::as_str) {
            builder.add_citation(Citation { url: Some(url.to_owned()), ..Citation::default() });
        }
    }
}

fn read_call(builder: &mut AnswerBuilder, call: &Value, on_delta: OnDelta<'_>) {
    let arguments = match at(call, &["function", "arguments"]) {
        Some(Value::String(arguments)) => arguments.clone(),
        None => String::new(),
        // Some servers send the object itself instead of its text.
        Some(other) => other.to_string(),
    };
    let piece = CallPiece {
        index: count(call, &["index"]),
        id: text(call, &["id"]),
        name: text(call, &["function", "name"]),
        arguments: &arguments,
    };
    builder.add_call_piece(piece, on_delta);
}

/// Finish reasons that report an error of the server.
const ABORTED: &[&str] = &["error", "insufficient_system_resource"];

/// Content is a string, or a list of parts with text.
fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| text(part, &["text"])).collect(),
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let part = |keys: &[&str]| count(usage, keys).unwrap_or(0);
    let (input, output) = (count(usage, &["prompt_tokens"])?, count(usage, &["completion_tokens"])?);
    let reasoning_tokens = part(&["completion_tokens_details", "reasoning_tokens"]).max(part(&["reasoning_tokens"]));
    // Some servers leave reasoning out of the tokens of the answer; their total says so.
    let all = input.saturating_add(output).saturating_add(reasoning_tokens);
    let is_apart = reasoning_tokens > 0 && count(usage, &["total_tokens"]) == Some(all);
    let output = output.saturating_add(if is_apart { reasoning_tokens } else { 0 });
    Some(Usage {
        // Servers send one of the two.
        cached_tokens: part(&["prompt_tokens_details", "cached_tokens"]).max(part(&["prompt_cache_hit_tokens"])),
        reasoning_tokens,
        ..Usage::reported(input, output)
    })
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Complete,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        other => FinishReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
