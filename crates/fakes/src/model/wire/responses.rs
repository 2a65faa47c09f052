//! The `responses` API of `OpenAI`.

use reknit_protocol::Value;
use serde_json::{Value as Json, json};

use super::{ModelAnswer, RequestMessage, call_id, fragments, joined_text, request_message};
use crate::reply::ScriptedCall;

pub(super) fn messages(body: &Value) -> Vec<RequestMessage> {
    let instructions =
        body.get("instructions").and_then(Value::as_str).map(|text| request_message("system", text.to_owned()));
    let items = match body.get("input") {
        Some(Value::String(text)) => vec![request_message("user", text.clone())],
        Some(Value::Array(items)) => items.iter().map(item).collect(),
        _ => Vec::new(),
    };
    instructions.into_iter().chain(items).collect()
}

fn item(item: &Value) -> RequestMessage {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match item.get("type").and_then(Value::as_str) {
        Some("function_call") => request_message("assistant", String::new()),
        Some("function_call_output") => request_message("tool", text("output")),
        _ => request_message(&text("role"), joined_text(item.get("content"))),
    }
}

/// The body of a response without streaming.
pub(super) fn body(answer: &ModelAnswer<'_>) -> Json {
    let (status, details) = match answer.finish {
        "length" => ("incomplete", json!({"reason": "max_output_tokens"})),
        "content_filter" => ("incomplete", json!({"reason": "content_filter"})),
        _ => ("completed", Json::Null),
    };
    response(answer, status, &details, &json!(output(answer)))
}

/// The same answer as server-sent events of a few characters each.
pub(super) fn stream_events(answer: &ModelAnswer<'_>) -> Vec<String> {
    let mut events =
        vec![json!({"type": "response.created", "response": response(answer, "in_progress", &Json::Null, &json!([]))})];
    for (index, item) in output(answer).iter().enumerate() {
        let kind = item.get("type").and_then(Json::as_str).unwrap_or_default();
        let (delta, text) = match kind {
            "reasoning" => ("response.reasoning_summary_text.delta", answer.reasoning),
            "message" => ("response.output_text.delta", answer.text),
            _ => ("response.function_call_arguments.delta", item.get("arguments").and_then(Json::as_str).unwrap_or("")),
        };
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": empty_item(item)}));
        events.extend(fragments(text).map(|fragment| json!({"type": delta, "output_index": index, "delta": fragment})));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let last = body(answer);
    let kind = format!("response.{}", last.get("status").and_then(Json::as_str).unwrap_or_default());
    events.push(json!({"type": kind, "response": last}));
    let with_name = |event: Json| {
        let kind = event.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.into_iter().map(with_name).collect()
}

/// An output item as the event that adds it shows it: without content.
fn empty_item(item: &Json) -> Json {
    let mut item = item.clone();
    if let Some(members) = item.as_object_mut() {
        for (key, empty) in [("summary", json!([])), ("content", json!([])), ("arguments", json!(""))] {
            if let Some(member) = members.get_mut(key) {
                *member = empty;
            }
        }
        members.remove("encrypted_content");
    }
    item
}

fn output(answer: &ModelAnswer<'_>) -> Vec<Json> {
    let mut items = Vec::new();
    if !answer.reasoning.is_empty() {
        let summary = json!([{"type": "summary_text", "text": answer.reasoning}]);
        items.push(json!({"id": "rs-1", "type": "reasoning", "summary": summary, "encrypted_content": "scripted"}));
    }
    if !answer.text.is_empty() {
        let content = json!([{"type": "output_text", "text": answer.text, "annotations": []}]);
        items.push(
            json!({"id": "msg-1", "type": "message", "role": "assistant", "status": "completed", "content": content}),
        );
    }
    for (index, ScriptedCall { name, arguments }) in answer.calls.iter().enumerate() {
        let id = call_id(answer, index);
        items.push(json!({"id": format!("fc-{index}"), "type": "function_call", "call_id": id, "name": name, "arguments": arguments}));
    }
    items
}

fn response(answer: &ModelAnswer<'_>, status: &str, details: &Json, output: &Json) -> Json {
    let usage = answer.usage.filter(|_| status != "in_progress").map(|(input, output)| {
        let total = input.saturating_add(output);
        json!({"input_tokens": input, "output_tokens": output, "total_tokens": total})
    });
    json!({
        "id": answer.id,
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": answer.model,
        "output": output,
        "usage": usage,
    })
}
