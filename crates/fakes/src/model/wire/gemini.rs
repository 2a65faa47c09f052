//! The `generateContent` API of Google.

use reknit_protocol::Value;
use serde_json::{Value as Json, json};

use super::{ModelAnswer, RequestMessage, arguments, call_id, fragments, joined_text, request_message, set};
use crate::reply::ScriptedCall;

pub(super) fn messages(body: &Value) -> Vec<RequestMessage> {
    let system =
        body.get("systemInstruction").map(|system| request_message("system", joined_text(system.get("parts"))));
    let rest = body.get("contents").and_then(Value::as_array).unwrap_or_default();
    let rest = rest.iter().map(|entry| {
        let role = match entry.get("role").and_then(Value::as_str) {
            Some("model") => "assistant",
            other => other.unwrap_or("user"),
        };
        request_message(role, all_text(entry.get("parts")))
    });
    system.into_iter().chain(rest).collect()
}

/// The text of all parts, and the results of tools.
fn all_text(parts: Option<&Value>) -> String {
    let tool_result = |part: &Value| {
        let response = part.get("functionResponse")?.get("response")?;
        response.get("output").or(response.get("error")).and_then(Value::as_str).map(str::to_owned)
    };
    let results = parts.and_then(Value::as_array).unwrap_or_default().iter().filter_map(tool_result);
    [joined_text(parts)].into_iter().chain(results).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The body of a response without streaming.
pub(super) fn body(answer: &ModelAnswer<'_>) -> Json {
    let mut parts = Vec::new();
    if !answer.reasoning.is_empty() {
        parts.push(json!({"text": answer.reasoning, "thought": true}));
    }
    if !answer.text.is_empty() {
        parts.push(json!({"text": answer.text}));
    }
    parts.extend(calls(answer));
    response(answer, &json!(parts), Some(finish_reason(answer.finish)))
}

/// The same answer as server-sent events of a few characters each. A tool call is one event.
pub(super) fn stream_events(answer: &ModelAnswer<'_>) -> Vec<String> {
    let reasoning = fragments(answer.reasoning).map(|fragment| json!({"text": fragment, "thought": true}));
    let text = fragments(answer.text).map(|fragment| json!({"text": fragment}));
    let parts = reasoning.chain(text).chain(calls(answer));
    let mut events: Vec<Json> = parts.map(|part| response(answer, &json!([part]), None)).collect();
    events.push(response(answer, &json!([{"text": ""}]), Some(finish_reason(answer.finish))));
    events.into_iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
}

fn calls(answer: &ModelAnswer<'_>) -> Vec<Json> {
    let call = |(index, call): (usize, &ScriptedCall)| {
        let call = json!({"id": call_id(answer, index), "name": call.name, "args": arguments(&call.arguments)});
        json!({"functionCall": call, "thoughtSignature": "scripted"})
    };
    answer.calls.iter().enumerate().map(call).collect()
}

fn response(answer: &ModelAnswer<'_>, parts: &Json, finish: Option<String>) -> Json {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        set(&mut candidate, "finishReason", json!(finish));
    }
    let mut response = json!({"candidates": [candidate], "modelVersion": answer.model, "responseId": answer.id});
    if let Some((prompt, output)) = answer.usage {
        let total = prompt.saturating_add(output);
        let usage = json!({"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": total});
        set(&mut response, "usageMetadata", usage);
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
