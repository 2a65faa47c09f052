//! The `chat/completions` API of `OpenAI`.

use reknit_protocol::Value;
use serde_json::{Value as Json, json};

use super::{ModelAnswer, RequestMessage, call_id, fragments, joined_text, request_message, set};
use crate::reply::ScriptedCall;

pub(super) fn messages(body: &Value) -> Vec<RequestMessage> {
    let messages = body.get("messages").and_then(Value::as_array).unwrap_or_default();
    let role = |entry: &Value| entry.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    messages.iter().map(|entry| request_message(&role(entry), joined_text(entry.get("content")))).collect()
}

/// The body of a response without streaming.
pub(super) fn body(answer: &ModelAnswer<'_>) -> Json {
    let mut assistant_message = json!({"role": "assistant", "content": answer.text});
    if !answer.reasoning.is_empty() {
        set(&mut assistant_message, "reasoning_content", json!(answer.reasoning));
    }
    if !answer.calls.is_empty() {
        let calls: Vec<Json> =
            answer.calls.iter().enumerate().map(|(index, call)| tool_call(answer, index, call)).collect();
        set(&mut assistant_message, "tool_calls", json!(calls));
    }
    let choice = json!({"index": 0, "message": assistant_message, "finish_reason": answer.finish});
    frame(answer, "chat.completion", &json!([choice]), usage(answer))
}

/// The same answer as server-sent events of a few characters each.
pub(super) fn stream_events(answer: &ModelAnswer<'_>) -> Vec<String> {
    let choice = |delta: Json, finish: Json| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(fragments(answer.reasoning).map(|fragment| json!({"reasoning_content": fragment})));
    deltas.extend(fragments(answer.text).map(|fragment| json!({"content": fragment})));
    for (index, call) in answer.calls.iter().enumerate() {
        let start = json!({"name": call.name, "arguments": ""});
        let first = json!({"index": index, "id": call_id(answer, index), "type": "function", "function": start});
        deltas.push(json!({"tool_calls": [first]}));
        let delta = |fragment| json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]});
        deltas.extend(fragments(&call.arguments).map(delta));
    }
    let mut events: Vec<String> =
        deltas.into_iter().map(|delta| event(answer, &choice(delta, Json::Null), None)).collect();
    events.push(event(answer, &choice(json!({}), json!(answer.finish)), None));
    if answer.wants_usage_in_stream && answer.usage.is_some() {
        events.push(event(answer, &json!([]), usage(answer)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn tool_call(answer: &ModelAnswer<'_>, index: usize, ScriptedCall { name, arguments }: &ScriptedCall) -> Json {
    json!({"id": call_id(answer, index), "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn event(answer: &ModelAnswer<'_>, choices: &Json, usage: Option<Json>) -> String {
    format!("data: {}\n\n", frame(answer, "chat.completion.chunk", choices, usage))
}

fn frame(answer: &ModelAnswer<'_>, object: &str, choices: &Json, usage: Option<Json>) -> Json {
    let mut frame = json!({"id": answer.id, "object": object, "created": 0, "model": answer.model, "choices": choices});
    if let Some(usage) = usage {
        set(&mut frame, "usage", usage);
    }
    frame
}

fn usage(answer: &ModelAnswer<'_>) -> Option<Json> {
    answer.usage.map(|(prompt, completion)| {
        let total = prompt.saturating_add(completion);
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total})
    })
}
