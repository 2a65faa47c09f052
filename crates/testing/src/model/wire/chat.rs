//! `chat/completions`.

use reknit_protocol::Value as Given;
use serde_json::{Value, json};

use super::{Message, Said, call_id, message, pieces, texts};

pub(super) fn messages(body: &Given) -> Vec<Message> {
    let messages = body.get("messages").and_then(Given::as_array).unwrap_or_default();
    let role = |said: &Given| said.get("role").and_then(Given::as_str).unwrap_or_default().to_owned();
    messages.iter().map(|said| message(&role(said), texts(said.get("content")))).collect()
}

/// One answer in one piece.
pub(super) fn whole(said: &Said<'_>) -> Value {
    let mut answer = json!({"role": "assistant", "content": said.text});
    if !said.reasoning.is_empty() {
        set(&mut answer, "reasoning_content", json!(said.reasoning));
    }
    if !said.calls.is_empty() {
        let calls: Vec<Value> =
            said.calls.iter().enumerate().map(|(index, call)| whole_call(said, index, call)).collect();
        set(&mut answer, "tool_calls", json!(calls));
    }
    let choice = json!({"index": 0, "message": answer, "finish_reason": said.finish});
    frame(said, "chat.completion", &json!([choice]), usage(said))
}

/// The same answer as a stream of events, a few letters to each.
pub(super) fn events(said: &Said<'_>) -> Vec<String> {
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(pieces(said.reasoning).map(|piece| json!({"reasoning_content": piece})));
    deltas.extend(pieces(said.text).map(|piece| json!({"content": piece})));
    for (index, (name, arguments)) in said.calls.iter().enumerate() {
        let begun = json!({"name": name, "arguments": ""});
        let call = json!({"index": index, "id": call_id(said, index), "type": "function", "function": begun});
        deltas.push(json!({"tool_calls": [call]}));
        let more = |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]});
        deltas.extend(pieces(arguments).map(more));
    }
    let mut events: Vec<String> =
        deltas.into_iter().map(|delta| event(said, &choice(delta, Value::Null), None)).collect();
    events.push(event(said, &choice(json!({}), json!(said.finish)), None));
    if said.wants_usage_in_stream && said.usage.is_some() {
        events.push(event(said, &json!([]), usage(said)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn whole_call(said: &Said<'_>, index: usize, (name, arguments): &(String, String)) -> Value {
    json!({"id": call_id(said, index), "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn event(said: &Said<'_>, choices: &Value, usage: Option<Value>) -> String {
    format!("data: {}\n\n", frame(said, "chat.completion.chunk", choices, usage))
}

fn frame(said: &Said<'_>, object: &str, choices: &Value, usage: Option<Value>) -> Value {
    let mut frame = json!({"id": said.id, "object": object, "created": 0, "model": said.model, "choices": choices});
    if let Some(usage) = usage {
        set(&mut frame, "usage", usage);
    }
    frame
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

fn usage(said: &Said<'_>) -> Option<Value> {
    said.usage.map(|(prompt, completion)| {
        let total = prompt.saturating_add(completion);
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total})
    })
}
