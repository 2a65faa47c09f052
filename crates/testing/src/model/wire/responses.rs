//! The `responses` of `OpenAI`.

use reknit_protocol::Value as Given;
use serde_json::{Value, json};

use super::{Message, Said, call_id, message, pieces, texts};

pub(super) fn messages(body: &Given) -> Vec<Message> {
    let instructions = body.get("instructions").and_then(Given::as_str).map(|text| message("system", text.to_owned()));
    let items = match body.get("input") {
        Some(Given::String(text)) => vec![message("user", text.clone())],
        Some(Given::Array(items)) => items.iter().map(item).collect(),
        _ => Vec::new(),
    };
    instructions.into_iter().chain(items).collect()
}

fn item(item: &Given) -> Message {
    let text = |key: &str| item.get(key).and_then(Given::as_str).unwrap_or_default().to_owned();
    match item.get("type").and_then(Given::as_str) {
        Some("function_call") => message("assistant", String::new()),
        Some("function_call_output") => message("tool", text("output")),
        _ => message(&text("role"), texts(item.get("content"))),
    }
}

/// One answer in one piece.
pub(super) fn whole(said: &Said<'_>) -> Value {
    let (status, details) = match said.finish {
        "length" => ("incomplete", json!({"reason": "max_output_tokens"})),
        "content_filter" => ("incomplete", json!({"reason": "content_filter"})),
        _ => ("completed", Value::Null),
    };
    response(said, status, &details, &json!(output(said)))
}

/// The same answer as a stream of events, a few letters to each.
pub(super) fn events(said: &Said<'_>) -> Vec<String> {
    let mut events =
        vec![json!({"type": "response.created", "response": response(said, "in_progress", &Value::Null, &json!([]))})];
    for (index, item) in output(said).iter().enumerate() {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        let (delta, text) = match kind {
            "reasoning" => ("response.reasoning_summary_text.delta", said.reasoning),
            "message" => ("response.output_text.delta", said.text),
            _ => {
                ("response.function_call_arguments.delta", item.get("arguments").and_then(Value::as_str).unwrap_or(""))
            }
        };
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun(item)}));
        events.extend(pieces(text).map(|piece| json!({"type": delta, "output_index": index, "delta": piece})));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let last = whole(said);
    let kind = format!("response.{}", last.get("status").and_then(Value::as_str).unwrap_or_default());
    events.push(json!({"type": kind, "response": last}));
    let named = |event: Value| {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.into_iter().map(named).collect()
}

/// An item before anything of it has come.
fn begun(item: &Value) -> Value {
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

fn output(said: &Said<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !said.reasoning.is_empty() {
        let summary = json!([{"type": "summary_text", "text": said.reasoning}]);
        items.push(json!({"id": "rs-1", "type": "reasoning", "summary": summary, "encrypted_content": "scripted"}));
    }
    if !said.text.is_empty() {
        let content = json!([{"type": "output_text", "text": said.text, "annotations": []}]);
        items.push(
            json!({"id": "msg-1", "type": "message", "role": "assistant", "status": "completed", "content": content}),
        );
    }
    for (index, (name, arguments)) in said.calls.iter().enumerate() {
        let id = call_id(said, index);
        items.push(json!({"id": format!("fc-{index}"), "type": "function_call", "call_id": id, "name": name, "arguments": arguments}));
    }
    items
}

fn response(said: &Said<'_>, status: &str, details: &Value, output: &Value) -> Value {
    let usage = said.usage.filter(|_| status != "in_progress").map(|(input, output)| {
        let total = input.saturating_add(output);
        json!({"input_tokens": input, "output_tokens": output, "total_tokens": total})
    });
    json!({
        "id": said.id,
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": said.model,
        "output": output,
        "usage": usage,
    })
}
