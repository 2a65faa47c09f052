//! Request bodies.

use reknit_model_api::{
    Attachment, AttachmentKind, FormatUsed, Message, ModelRequest, ResponseFormat, Thought, ToolDefinition,
};
use reknit_protocol::Value;

use super::STATE_FORMAT;
use crate::attachments::{address, base64_of, file_name};
use crate::openai::{family, is_strict, tool_choice};
use crate::prompt_cache::cache_key;
use crate::request_body::{RequestBody, arguments, metadata};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let family = family(&target.model);
    let (format_used, schema) = negotiate(target, &request.format);
    let mut body = RequestBody::new(format_used);
    body.insert("model", target.model.as_str());
    body.insert("input", request.messages.iter().flat_map(items).collect::<Value>());
    if !request.tools.is_empty() {
        body.insert("tools", request.tools.iter().map(tool).collect::<Value>());
        body.insert_some("tool_choice", tool_choice(&request.tool_choice, named_choice));
        let parallel = request.parallel_tool_calls.map(Value::from);
        body.insert_if("parallel_tool_calls", family.parallel_calls, "parallel_tool_calls", parallel);
    }
    body.insert_sampling(family.sampling, request);
    body.insert("max_output_tokens", request.max_tokens);
    body.insert_some("prompt_cache_key", cache_key(target, request));
    body.omit_if("thinking_tokens", request.thinking_tokens.is_some_and(|tokens| tokens > 0));
    let effort = request.effort.map(|effort| family.effort(effort).unwrap_or_default());
    let effort = effort.map(|effort| object! {"effort": effort});
    body.insert_if("reasoning", !family.efforts.is_empty(), "effort", effort);
    body.omit_if("stop", !request.stop.is_empty());
    body.omit_if("seed", request.seed.is_some());
    if !request.metadata.is_empty() {
        body.insert("metadata", metadata(request));
    }
    body.insert_some("text", text_format(&request.format, format_used, schema));
    // Every request contains its whole conversation, so the provider need not store it.
    body.insert("store", false);
    if !family.efforts.is_empty() {
        body.insert("include", vec![Value::from("reasoning.encrypted_content")]);
    }
    if target.streaming == Streaming::On {
        body.insert("stream", true);
    }
    body
}

fn items(message: &Message) -> Vec<Value> {
    let content = || object! {"role": message.role().as_str(), "content": message.text()};
    match message {
        Message::User { text, attachments } if !attachments.is_empty() => {
            vec![object! {"role": "user", "content": parts(text, attachments)}]
        }
        Message::System { .. } | Message::User { .. } => vec![content()],
        Message::Assistant { text, tool_calls, reasoning, .. } => {
            let mut items: Vec<Value> = reasoning.iter().filter_map(thought).collect();
            if !text.is_empty() {
                items.push(content());
            }
            items.extend(tool_calls.iter().map(|call| {
                object! {
                    "type": "function_call", "call_id": call.id.as_str(), "name": call.name.as_str(),
                    "arguments": arguments(&call.arguments).to_string(),
                }
            }));
            items
        }
        Message::Tool { call, text, attachments, .. } => {
            let output = if attachments.is_empty() { text.as_str().into() } else { parts(text, attachments) };
            vec![object! {"type": "function_call_output", "call_id": call.as_str(), "output": output}]
        }
    }
}

fn parts(text: &str, attachments: &[Attachment]) -> Value {
    let text = Some(text).filter(|text| !text.is_empty());
    let text = text.map(|text| object! {"type": "input_text", "text": text});
    text.into_iter().chain(attachments.iter().map(part)).collect()
}

fn part(attachment: &Attachment) -> Value {
    let address = Value::from(address(attachment));
    if attachment.kind() == AttachmentKind::Image {
        return object! {"type": "input_image", "image_url": address};
    }
    if base64_of(attachment).is_none() {
        return object! {"type": "input_file", "file_url": address};
    }
    object! {"type": "input_file", "filename": file_name(attachment), "file_data": address}
}

/// The reasoning item of a thought, as this provider sent it.
fn thought(thought: &Thought) -> Option<Value> {
    let state = thought.provider_state.as_ref().filter(|state| state.format == STATE_FORMAT)?;
    Value::parse(&state.text).ok()
}

fn tool(tool: &ToolDefinition) -> Value {
    Value::from([
        ("type", "function".into()),
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        ("parameters", tool.schema.clone()),
        // The server's default is strict, with which it refuses most schemas.
        ("strict", is_strict(&tool.schema).into()),
    ])
}

fn named_choice(name: &str) -> Value {
    object! {"type": "function", "name": name}
}

fn text_format(requested: &ResponseFormat, used: FormatUsed, schema: Option<Value>) -> Option<Value> {
    let format = match (requested, schema) {
        (ResponseFormat::Schema { name, .. }, Some(schema)) => object! {
            "type": "json_schema", "name": name.as_str(), "strict": used == FormatUsed::Strict, "schema": schema,
        },
        _ if used == FormatUsed::Json => object! {"type": "json_object"},
        _ => return None,
    };
    Some(object! {"format": format})
}

#[cfg(test)]
mod tests;
