//! Anthropic's `messages`.

use reknit_protocol::Value as Given;
use serde_json::{Value, json};

use super::{Message, Said, arguments, call_id, message, pieces, texts};

pub(super) fn messages(body: &Given) -> Vec<Message> {
    let system = body.get("system").map(|system| message("system", texts(Some(system))));
    let rest = body.get("messages").and_then(Given::as_array).unwrap_or_default();
    let rest = rest
        .iter()
        .map(|said| message(said.get("role").and_then(Given::as_str).unwrap_or_default(), texts(said.get("content"))));
    system.into_iter().chain(rest).collect()
}

/// One answer in one piece.
pub(super) fn whole(said: &Said<'_>) -> Value {
    let mut content = Vec::new();
    if !said.reasoning.is_empty() {
        content.push(json!({"type": "thinking", "thinking": said.reasoning, "signature": "scripted"}));
    }
    if !said.text.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    }
    for (index, (name, text)) in said.calls.iter().enumerate() {
        let input = arguments(text);
        content.push(json!({"type": "tool_use", "id": call_id(said, index), "name": name, "input": input}));
    }
    let usage = said.usage.map(|(input, output)| json!({"input_tokens": input, "output_tokens": output}));
    json!({
        "id": said.id,
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": stop_reason(said.finish),
        "stop_sequence": null,
        "usage": usage,
    })
}

/// The same answer as a stream of events, a few letters to each.
pub(super) fn events(said: &Said<'_>) -> Vec<String> {
    let mut events = vec![start(said), event("ping", &json!({}))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(event("content_block_start", &json!({"index": index, "content_block": start})));
        for delta in deltas {
            events.push(event("content_block_delta", &json!({"index": index, "delta": delta})));
        }
        events.push(event("content_block_stop", &json!({"index": index})));
        index += 1;
    };
    if !said.reasoning.is_empty() {
        let thoughts = pieces(said.reasoning).map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
        let signature = json!({"type": "signature_delta", "signature": "scripted"});
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), thoughts.chain([signature]).collect());
    }
    if !said.text.is_empty() {
        let words = pieces(said.text).map(|piece| json!({"type": "text_delta", "text": piece}));
        block(json!({"type": "text", "text": ""}), words.collect());
    }
    for (index, (name, text)) in said.calls.iter().enumerate() {
        // The object as it stands in an answer in one piece, torn apart.
        let text = arguments(text).to_string();
        let text = if text == "{}" { "" } else { &text };
        let arguments = pieces(text).map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        let begun = json!({"type": "tool_use", "id": call_id(said, index), "name": name, "input": {}});
        block(begun, arguments.collect());
    }
    let usage = said.usage.map(|(_, output)| json!({"output_tokens": output}));
    let delta = json!({"stop_reason": stop_reason(said.finish), "stop_sequence": null});
    events.push(event("message_delta", &json!({"delta": delta, "usage": usage})));
    events.push(event("message_stop", &json!({})));
    events
}

fn start(said: &Said<'_>) -> String {
    let usage = said.usage.map(|(input, _)| json!({"input_tokens": input, "output_tokens": 1}));
    let message = json!({
        "id": said.id,
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    });
    event("message_start", &json!({"message": message}))
}

fn event(kind: &str, members: &Value) -> String {
    let mut data = json!({"type": kind});
    if let (Some(data), Some(members)) = (data.as_object_mut(), members.as_object()) {
        data.extend(members.clone());
    }
    format!("event: {kind}\ndata: {data}\n\n")
}

fn stop_reason(finish: &str) -> &str {
    match finish {
        "stop" => "end_turn",
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        "content_filter" => "refusal",
        other => other,
    }
}
