//! Responses of `chat/completions`.

use reknit_model_api::{FinishReason, ModelAnswer, ToolCall, Usage};
use reknit_protocol::{Object, Value};

use super::{Identity, reasoning, text_or_null};
use crate::json::text;

pub(super) fn write(answer: &ModelAnswer, identity: &Identity) -> Object {
    let mut message = object! {"role": "assistant"};
    let is_refusal = answer.finish == FinishReason::Refusal;
    message.insert("content", if is_refusal { Value::Null } else { text_or_null(&answer.text) });
    message.insert("refusal", if is_refusal { text_or_null(&answer.text) } else { Value::Null });
    let reasoning = reasoning(&answer.reasoning);
    if !reasoning.is_empty() {
        message.insert("reasoning_content", reasoning);
    }
    if !answer.tool_calls.is_empty() {
        message.insert(
            "tool_calls",
            answer.tool_calls.iter().map(|call| Value::Object(tool_call(call))).collect::<Value>(),
        );
    }
    let choice = object! {
        "index": 0, "message": message, "logprobs": Value::Null, "finish_reason": finish_reason(&answer.finish),
    };
    object! {
        "id": format!("chatcmpl-{}", identity.id),
        "object": "chat.completion",
        "created": identity.created,
        "model": answer.model.as_str(),
        "choices": vec![Value::Object(choice)],
        "usage": usage(&answer.usage),
    }
}

pub(crate) fn finish_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Complete | FinishReason::Refusal => "stop",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Other(name) if name == "unstated" => "stop",
        FinishReason::Other(name) => name,
    }
}

pub(crate) fn tool_call(call: &ToolCall) -> Object {
    object! {"id": call.id.as_str(), "type": "function", "function": function(call)}
}

fn function(call: &ToolCall) -> Object {
    object! {"name": call.name.as_str(), "arguments": call.arguments.as_str()}
}

pub(crate) fn usage(usage: &Usage) -> Object {
    object! {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
        "prompt_tokens_details": object! {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": object! {"reasoning_tokens": usage.reasoning_tokens},
    }
}

pub(super) fn patch(response: &mut Object, answer: &ModelAnswer) {
    let choice = response.get_mut("choices").and_then(Value::as_array_mut).and_then(|choices| choices.first_mut());
    let Some(choice) = choice.and_then(Value::as_object_mut) else { return };
    choice.insert("finish_reason", finish_reason(&answer.finish));
    let Some(message) = choice.get_mut("message").and_then(Value::as_object_mut) else { return };
    message.insert("content", text_or_null(&answer.text));
    let known = message.remove("tool_calls");
    let known = known.as_ref().and_then(Value::as_array).unwrap_or_default();
    let calls: Vec<Value> = answer.tool_calls.iter().map(|call| patched(known, call)).collect();
    if !calls.is_empty() {
        message.insert("tool_calls", calls);
    }
}

fn patched(known: &[Value], call: &ToolCall) -> Value {
    let is_it = |known: &&Value| text(known, &["id"]) == Some(call.id.as_str());
    let mut patched = known.iter().find(is_it).and_then(Value::as_object).cloned().unwrap_or_else(|| tool_call(call));
    match patched.get_mut("function").and_then(Value::as_object_mut) {
        Some(fields) => {
            fields.insert("name", call.name.as_str());
            fields.insert("arguments", call.arguments.as_str());
        }
        None => {
            patched.insert("function", function(call));
        }
    }
    Value::Object(patched)
}
