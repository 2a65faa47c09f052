//! Google's `generateContent`.

use reknit_protocol::Value as Given;
use serde_json::{Value, json};

use super::{Message, Said, arguments, call_id, message, pieces, texts};

pub(super) fn messages(body: &Given) -> Vec<Message> {
    let system = body.get("systemInstruction").map(|system| message("system", texts(system.get("parts"))));
    let rest = body.get("contents").and_then(Given::as_array).unwrap_or_default();
    let rest = rest.iter().map(|said| {
        let role = match said.get("role").and_then(Given::as_str) {
            Some("model") => "assistant",
            other => other.unwrap_or("user"),
        };
        message(role, words(said.get("parts")))
    });
    system.into_iter().chain(rest).collect()
}

/// The texts of all parts, and what tools have answered.
fn words(parts: Option<&Given>) -> String {
    let answered = |part: &Given| {
        let response = part.get("functionResponse")?.get("response")?;
        response.get("output").or(response.get("error")).and_then(Given::as_str).map(str::to_owned)
    };
    let answers = parts.and_then(Given::as_array).unwrap_or_default().iter().filter_map(answered);
    [texts(parts)].into_iter().chain(answers).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// One answer in one piece.
pub(super) fn whole(said: &Said<'_>) -> Value {
    let mut parts = Vec::new();
    if !said.reasoning.is_empty() {
        parts.push(json!({"text": said.reasoning, "thought": true}));
    }
    if !said.text.is_empty() {
        parts.push(json!({"text": said.text}));
    }
    parts.extend(calls(said));
    response(said, &json!(parts), Some(finish_reason(said.finish)))
}

/// The same answer as a stream of events, a few letters to each. Calls come whole.
pub(super) fn events(said: &Said<'_>) -> Vec<String> {
    let thoughts = pieces(said.reasoning).map(|piece| json!({"text": piece, "thought": true}));
    let words = pieces(said.text).map(|piece| json!({"text": piece}));
    let parts = thoughts.chain(words).chain(calls(said));
    let mut events: Vec<Value> = parts.map(|part| response(said, &json!([part]), None)).collect();
    events.push(response(said, &json!([{"text": ""}]), Some(finish_reason(said.finish))));
    events.into_iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
}

fn calls(said: &Said<'_>) -> Vec<Value> {
    let call = |(index, (name, text)): (usize, &(String, String))| {
        let call = json!({"id": call_id(said, index), "name": name, "args": arguments(text)});
        json!({"functionCall": call, "thoughtSignature": "scripted"})
    };
    said.calls.iter().enumerate().map(call).collect()
}

fn response(said: &Said<'_>, parts: &Value, finish: Option<String>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let (Some(finish), Some(members)) = (finish, candidate.as_object_mut()) {
        members.insert("finishReason".to_owned(), json!(finish));
    }
    let mut response = json!({"candidates": [candidate], "modelVersion": said.model, "responseId": said.id});
    if let (Some((prompt, output)), Some(members)) = (said.usage, response.as_object_mut()) {
        let total = prompt.saturating_add(output);
        let usage = json!({"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": total});
        members.insert("usageMetadata".to_owned(), usage);
    }
    response
}

fn finish_reason(finish: &str) -> String {
    match finish {
        "stop" | "tool_calls" => "STOP".to_owned(),
        "length" => "MAX_TOKENS".to_owned(),
        "content_filter" => "SAFETY".to_owned(),
        other => other.to_uppercase(),
    }
}
