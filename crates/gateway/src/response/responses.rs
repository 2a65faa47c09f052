//! Responses of `responses`.

use reknit_model_api::{FinishReason, ModelAnswer, ToolCall, Usage};
use reknit_protocol::{Object, Value};

use super::{Identity, reasoning};
use crate::json::{or_null, text};

pub(super) fn write(answer: &ModelAnswer, identity: &Identity) -> Object {
    let mut response = skeleton(&identity.id, identity.created, &answer.model);
    let mut output = Vec::new();
    let reasoning = reasoning(&answer.reasoning);
    if !reasoning.is_empty() {
        output.push(Value::Object(reasoning_item(&identity.id, &reasoning)));
    }
    if !answer.text.is_empty() {
        let part = match answer.finish {
            FinishReason::Refusal => object! {"type": "refusal", "refusal": answer.text.as_str()},
            _ => text_part(&answer.text),
        };
        output.push(Value::Object(message(&message_id(&identity.id), "completed", vec![Value::Object(part)])));
    }
    let calls = answer.tool_calls.iter().map(|call| Value::Object(function_call(call, "completed", &call.arguments)));
    output.extend(calls);
    response.insert("output", output);
    finish(&mut response, answer);
    response
}

pub(crate) fn reasoning_item(id: &str, text: &str) -> Object {
    let summary = object! {"type": "summary_text", "text": text};
    object! {"id": format!("rs_{id}"), "type": "reasoning", "summary": vec![Value::Object(summary)]}
}

pub(crate) fn skeleton(id: &str, created: i64, model: &str) -> Object {
    object! {
        "id": format!("resp_{id}"),
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": Value::Null,
        "incomplete_details": Value::Null,
        "instructions": Value::Null,
        "metadata": Object::new(),
        "model": model,
        "output": Vec::<Value>::new(),
        "parallel_tool_calls": true,
        "temperature": Value::Null,
        "tool_choice": "auto",
        "tools": Vec::<Value>::new(),
        "top_p": Value::Null,
    }
}

/// Sets what is known at the end of a response.
pub(crate) fn finish(response: &mut Object, answer: &ModelAnswer) {
    let why = match &answer.finish {
        FinishReason::Length => Some("max_output_tokens"),
        FinishReason::ContentFilter => Some("content_filter"),
        FinishReason::Other(name) if name != "unstated" => Some(name.as_str()),
        FinishReason::Complete | FinishReason::Refusal | FinishReason::ToolCalls | FinishReason::Other(_) => None,
    };
    response.insert("status", if why.is_some() { "incomplete" } else { "completed" });
    response.insert("incomplete_details", or_null(why.map(|reason| object! {"reason": reason})));
    response.insert("usage", usage(&answer.usage));
}

pub(crate) fn message_id(id: &str) -> String {
    format!("msg_{id}")
}

pub(crate) fn message(id: &str, status: &str, content: Vec<Value>) -> Object {
    object! {"id": id, "type": "message", "status": status, "role": "assistant", "content": content}
}

pub(crate) fn text_part(text: &str) -> Object {
    object! {"type": "output_text", "text": text, "annotations": Vec::<Value>::new()}
}

pub(crate) fn function_call(call: &ToolCall, status: &str, arguments: &str) -> Object {
    object! {
        "id": format!("fc_{}", call.id),
        "type": "function_call",
        "status": status,
        "call_id": call.id.as_str(),
        "name": call.name.as_str(),
        "arguments": arguments,
    }
}

fn usage(usage: &Usage) -> Object {
    object! {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": object! {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": object! {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
    }
}

pub(super) fn patch(response: &mut Object, answer: &ModelAnswer) {
    let known = response.remove("output");
    let known = known.as_ref().and_then(Value::as_array).unwrap_or_default();
    let kind = |item: &Value| text(item, &["type"]).map(str::to_owned);
    let is_text_same =
        known.iter().filter(|item| kind(item).as_deref() == Some("message")).map(message_text).collect::<String>()
            == answer.text;
    let mut output = Vec::new();
    let mut new_text = Some(answer.text.as_str()).filter(|text| !text.is_empty());
    // The order of the items is part of what the model wrote.
    for item in known {
        match kind(item).as_deref() {
            Some("function_call") => {
                let is_it = |call: &&ToolCall| text(item, &["call_id"]) == Some(call.id.as_str());
                if let Some((call, item)) = answer.tool_calls.iter().find(is_it).zip(item.as_object()) {
                    let mut item = item.clone();
                    item.insert("name", call.name.as_str());
                    item.insert("arguments", call.arguments.as_str());
                    output.push(Value::Object(item));
                }
            }
            Some("message") if !is_text_same => {
                let id = text(item, &["id"]).unwrap_or_default();
                let part = |text: &str| vec![Value::Object(text_part(text))];
                output.extend(new_text.take().map(|text| Value::Object(message(id, "completed", part(text)))));
            }
            _ => output.push(item.clone()),
        }
    }
    let is_known = |call: &&ToolCall| known.iter().any(|item| text(item, &["call_id"]) == Some(call.id.as_str()));
    let new = answer.tool_calls.iter().filter(|call| !is_known(call));
    output.extend(new.map(|call| Value::Object(function_call(call, "completed", &call.arguments))));
    response.insert("output", output);
}

fn message_text(item: &Value) -> String {
    crate::json::list(item, &["content"]).iter().filter_map(|part| text(part, &["text"])).collect()
}
