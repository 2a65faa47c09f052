//! Responses of `messages`.

use reknit_model_api::{FinishReason, ModelAnswer, ToolCall, Usage};
use reknit_protocol::{Object, Value};

use super::Identity;
use crate::json::{or_null, text};

pub(super) fn write(answer: &ModelAnswer, identity: &Identity) -> Object {
    let mut content = Vec::new();
    for thought in answer.reasoning.iter().filter(|thought| !thought.text.is_empty()) {
        let state = thought.provider_state.as_ref().filter(|state| state.format == "anthropic");
        let signature = state.map_or("", |state| state.text.as_str());
        content.push(Value::Object(
            object! {"type": "thinking", "thinking": thought.text.as_str(), "signature": signature},
        ));
    }
    if !answer.text.is_empty() {
        content.push(Value::Object(object! {"type": "text", "text": answer.text.as_str()}));
    }
    content.extend(answer.tool_calls.iter().map(|call| Value::Object(tool_use(call))));
    object! {
        "id": format!("msg_{}", identity.id),
        "type": "message",
        "role": "assistant",
        "model": answer.model.as_str(),
        "content": content,
        "stop_reason": stop_reason(answer),
        "stop_sequence": or_null(answer.stop_sequence.as_deref()),
        "usage": usage(&answer.usage),
    }
}

pub(crate) fn stop_reason(answer: &ModelAnswer) -> &str {
    match &answer.finish {
        FinishReason::Complete if answer.stop_sequence.is_some() => "stop_sequence",
        FinishReason::Complete => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter | FinishReason::Refusal => "refusal",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Other(name) if name == "unstated" => "end_turn",
        FinishReason::Other(name) => name,
    }
}

pub(crate) fn tool_use(call: &ToolCall) -> Object {
    let input = Value::parse(&call.arguments).unwrap_or_else(|_| Value::Object(Object::new()));
    object! {"type": "tool_use", "id": call.id.as_str(), "name": call.name.as_str(), "input": input}
}

pub(crate) fn usage(usage: &Usage) -> Object {
    let cached = usage.cached_tokens.saturating_add(usage.cache_written_tokens);
    object! {
        "input_tokens": usage.input_tokens.saturating_sub(cached),
        "cache_creation_input_tokens": usage.cache_written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }
}

pub(super) fn patch(response: &mut Object, answer: &ModelAnswer) {
    response.insert("stop_reason", stop_reason(answer));
    let known = response.remove("content");
    let known = known.as_ref().and_then(Value::as_array).unwrap_or_default();
    let kind = |block: &Value| text(block, &["type"]).unwrap_or_default().to_owned();
    let texts: String =
        known.iter().filter(|block| kind(block) == "text").filter_map(|block| text(block, &["text"])).collect();
    let (mut content, mut new_text) = (Vec::new(), (texts != answer.text).then_some(answer.text.as_str()));
    // The order of the blocks is part of what the model wrote.
    for block in known {
        match kind(block).as_str() {
            "tool_use" => {
                let is_it = |call: &&ToolCall| text(block, &["id"]) == Some(call.id.as_str());
                let call = answer.tool_calls.iter().find(is_it);
                content.extend(call.map(|call| with_fields(block, tool_use(call))));
            }
            "text" if texts != answer.text => {
                let new = new_text.take().filter(|text| !text.is_empty());
                content.extend(new.map(|text| Value::Object(object! {"type": "text", "text": text})));
            }
            _ => content.push(block.clone()),
        }
    }
    let is_known = |call: &&ToolCall| known.iter().any(|block| text(block, &["id"]) == Some(call.id.as_str()));
    content.extend(answer.tool_calls.iter().filter(|call| !is_known(call)).map(|call| Value::Object(tool_use(call))));
    response.insert("content", content);
}

fn with_fields(block: &Value, fields: Object) -> Value {
    let mut block = block.as_object().cloned().unwrap_or_default();
    block.extend(fields);
    Value::Object(block)
}
