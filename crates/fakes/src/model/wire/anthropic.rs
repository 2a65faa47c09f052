//! The `messages` API of Anthropic.

use reknit_protocol::Value;
use serde_json::{Value as Json, json};

use super::{ModelAnswer, RequestMessage, arguments, call_id, chat, fragments, joined_text, request_message};

pub(super) fn messages(body: &Value) -> Vec<RequestMessage> {
    let system = body.get("system").map(|system| request_message("system", joined_text(Some(system))));
    system.into_iter().chain(chat::messages(body)).collect()
}

/// The body of a response without streaming.
pub(super) fn body(answer: &ModelAnswer<'_>) -> Json {
    let mut content = Vec::new();
    if !answer.reasoning.is_empty() {
        content.push(json!({"type": "thinking", "thinking": answer.reasoning, "signature": "scripted"}));
    }
    if !answer.text.is_empty() {
        content.push(json!({"type": "text", "text": answer.text}));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let input = arguments(&call.arguments);
        content.push(json!({"type": "tool_use", "id": call_id(answer, index), "name": call.name, "input": input}));
    }
    let usage = answer.usage.map(|(input, output)| json!({"input_tokens": input, "output_tokens": output}));
    json!({
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop_reason(answer.finish),
        "stop_sequence": null,
        "usage": usage,
    })
}

/// The same answer as server-sent events of a few characters each.
pub(super) fn stream_events(answer: &ModelAnswer<'_>) -> Vec<String> {
    let mut events = vec![start(answer), event("ping", &json!({}))];
    let mut index = 0;
    let mut block = |start: Json, deltas: Vec<Json>| {
        events.push(event("content_block_start", &json!({"index": index, "content_block": start})));
        for delta in deltas {
            events.push(event("content_block_delta", &json!({"index": index, "delta": delta})));
        }
        events.push(event("content_block_stop", &json!({"index": index})));
        index += 1;
    };
    if !answer.reasoning.is_empty() {
        let reasoning =
            fragments(answer.reasoning).map(|fragment| json!({"type": "thinking_delta", "thinking": fragment}));
        let signature = json!({"type": "signature_delta", "signature": "scripted"});
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), reasoning.chain([signature]).collect());
    }
    if !answer.text.is_empty() {
        let text = fragments(answer.text).map(|fragment| json!({"type": "text_delta", "text": fragment}));
        block(json!({"type": "text", "text": ""}), text.collect());
    }
    for (index, call) in answer.calls.iter().enumerate() {
        // The same JSON as in a response without streaming, in fragments.
        let text = arguments(&call.arguments).to_string();
        let text = if text == "{}" { "" } else { &text };
        let arguments = fragments(text).map(|fragment| json!({"type": "input_json_delta", "partial_json": fragment}));
        let start = json!({"type": "tool_use", "id": call_id(answer, index), "name": call.name, "input": {}});
        block(start, arguments.collect());
    }
    let usage = answer.usage.map(|(_, output)| json!({"output_tokens": output}));
    let delta = json!({"stop_reason": stop_reason(answer.finish), "stop_sequence": null});
    events.push(event("message_delta", &json!({"delta": delta, "usage": usage})));
    events.push(event("message_stop", &json!({})));
    events
}

fn start(answer: &ModelAnswer<'_>) -> String {
    let usage = answer.usage.map(|(input, _)| json!({"input_tokens": input, "output_tokens": 1}));
    let message = json!({
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    });
    event("message_start", &json!({"message": message}))
}

fn event(kind: &str, members: &Json) -> String {
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
