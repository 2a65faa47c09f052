//! Request bodies.

use reknit_model_api::{
    Attachment, AttachmentKind, FormatUsed, Message, ModelRequest, ResponseFormat, Thought, ToolDefinition,
};
use reknit_protocol::{Object, Value};

use super::STATE_FORMAT;
use crate::attachments::{address, base64_of, file_name};
use crate::openai::{family, is_strict, tool_choice};
use crate::prompt_cache::cache_key;
use crate::request_body::{RequestBody, arguments};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

/// The body of the request.
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
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    body.insert_if("temperature", family.sampling, "temperature", temperature);
    body.insert_if("top_p", family.sampling, "top_p", request.top_p.map(|top_p| top_p.to_number().into()));
    body.insert("max_output_tokens", request.max_tokens);
    body.insert_some("prompt_cache_key", cache_key(target, request));
    body.omit_if("thinking_tokens", request.thinking_tokens.is_some_and(|tokens| tokens > 0));
    let effort = request.effort.map(|effort| family.effort(effort).unwrap_or_default());
    let effort = effort.map(|effort| Value::from([("effort", effort.into())]));
    body.insert_if("reasoning", !family.efforts.is_empty(), "effort", effort);
    body.omit_if("stop", !request.stop.is_empty());
    body.omit_if("seed", request.seed.is_some());
    if !request.metadata.is_empty() {
        let metadata: Object =
            request.metadata.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
        body.insert("metadata", metadata);
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
    let content = || Value::from([("role", message.role().as_str().into()), ("content", message.text().into())]);
    match message {
        Message::User { text, attachments } if !attachments.is_empty() => {
            vec![Value::from([("role", "user".into()), ("content", parts(text, attachments))])]
        }
        Message::System { .. } | Message::User { .. } => vec![content()],
        Message::Assistant { text, tool_calls, reasoning, .. } => {
            let mut items: Vec<Value> = reasoning.iter().filter_map(thought).collect();
            if !text.is_empty() {
                items.push(content());
            }
            items.extend(tool_calls.iter().map(|call| {
                Value::from([
                    ("type", "function_call".into()),
                    ("call_id", call.id.as_str().into()),
                    ("name", call.name.as_str().into()),
                    ("arguments", arguments(&call.arguments).to_string().into()),
                ])
            }));
            items
        }
        Message::Tool { call, text, attachments, .. } => {
            let output = if attachments.is_empty() { text.as_str().into() } else { parts(text, attachments) };
            vec![Value::from([
                ("type", "function_call_output".into()),
                ("call_id", call.as_str().into()),
                ("output", output),
            ])]
        }
    }
}

/// A text with attachments.
fn parts(text: &str, attachments: &[Attachment]) -> Value {
    let text = Some(text).filter(|text| !text.is_empty());
    let text = text.map(|text| Value::from([("type", "input_text".into()), ("text", text.into())]));
    text.into_iter().chain(attachments.iter().map(part)).collect()
}

fn part(attachment: &Attachment) -> Value {
    let address = Value::from(address(attachment));
    if attachment.kind() == AttachmentKind::Image {
        return Value::from([("type", "input_image".into()), ("image_url", address)]);
    }
    if base64_of(attachment).is_none() {
        return Value::from([("type", "input_file".into()), ("file_url", address)]);
    }
    Value::from([("type", "input_file".into()), ("filename", file_name(attachment).into()), ("file_data", address)])
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
    Value::from([("type", "function".into()), ("name", name.into())])
}

fn text_format(requested: &ResponseFormat, used: FormatUsed, schema: Option<Value>) -> Option<Value> {
    let format = match (requested, schema) {
        (ResponseFormat::Schema { name, .. }, Some(schema)) => Value::from([
            ("type", "json_schema".into()),
            ("name", name.as_str().into()),
            ("strict", (used == FormatUsed::Strict).into()),
            ("schema", schema),
        ]),
        _ if used == FormatUsed::Json => Value::from([("type", "json_object".into())]),
        _ => return None,
    };
    Some(Value::from([("format", format)]))
}

#[cfg(test)]
mod tests;
