//! Request bodies.

use reknit_dialogue::{FormatUsed, Message, ModelRequest, ResponseFormat, Thought, ToolDefinition};
use reknit_protocol::{Object, Value};

use super::STATE_FORMAT;
use crate::openai::{family, is_strict, tool_choice};
use crate::request_body::{RequestBody, arguments};
use crate::{Streaming, Target};

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let family = family(&target.model);
    let mut body = RequestBody::new(target.format.reduce(&request.format));
    body.insert("model", target.model.as_str());
    body.insert("input", request.messages.iter().flat_map(items).collect::<Value>());
    if !request.tools.is_empty() {
        body.insert("tools", request.tools.iter().map(tool).collect::<Value>());
        body.insert_some("tool_choice", tool_choice(&request.tool_choice, named_choice));
    }
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    body.insert_if("temperature", family.sampling, "temperature", temperature);
    body.insert("max_output_tokens", request.max_tokens);
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
    body.insert_some("text", text_format(&request.format, body.format_used));
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
        Message::System { .. } | Message::User { .. } => vec![content()],
        Message::Assistant { text, tool_calls, reasoning } => {
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
        Message::Tool { call, text, .. } => vec![Value::from([
            ("type", "function_call_output".into()),
            ("call_id", call.as_str().into()),
            ("output", text.as_str().into()),
        ])],
    }
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

fn text_format(requested: &ResponseFormat, used: FormatUsed) -> Option<Value> {
    let format = match (used, requested) {
        (FormatUsed::Strict | FormatUsed::Schema, ResponseFormat::Schema { name, schema }) => Value::from([
            ("type", "json_schema".into()),
            ("name", name.as_str().into()),
            ("strict", (used == FormatUsed::Strict).into()),
            ("schema", schema.clone()),
        ]),
        (FormatUsed::Json, _) => Value::from([("type", "json_object".into())]),
        (FormatUsed::Text | FormatUsed::Schema | FormatUsed::Strict, _) => return None,
    };
    Some(Value::from([("format", format)]))
}

#[cfg(test)]
mod tests;
