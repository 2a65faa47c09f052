//! Request bodies.

use reknit_dialogue::{FormatUsed, Message, ModelRequest, ResponseFormat, Thought, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use super::family::{ModelFamily, family};
use crate::request_body::{RequestBody, arguments, strings, tool_declaration};
use crate::{Streaming, Target};

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let family = family(&target.model);
    let mut body = RequestBody::new(target.format.reduce(&request.format));
    body.insert("model", target.model.as_str());
    body.insert("messages", request.messages.iter().map(|message| message_json(message, family)).collect::<Value>());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| function(tool_declaration(tool, "parameters")));
        body.insert("tools", tools.collect::<Value>());
        body.insert_some("tool_choice", tool_choice(&request.tool_choice, named_choice));
    }
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    body.insert_if("temperature", family.sampling, "temperature", temperature);
    body.insert(family.max_tokens, request.max_tokens);
    let stop = Some(strings(&request.stop)).filter(|_| !request.stop.is_empty());
    body.insert_if("stop", family.sampling, "stop", stop);
    body.insert_some("seed", request.seed.map(Value::from));
    let effort = request.effort.map(|effort| family.effort(effort).unwrap_or_default().into());
    body.insert_if("reasoning_effort", !family.efforts.is_empty(), "effort", effort);
    // The server accepts metadata only if it may store the whole conversation.
    body.omit_if("metadata", !request.metadata.is_empty());
    body.insert_some("response_format", response_format(&request.format, body.format_used));
    if target.streaming == Streaming::On {
        body.insert("stream", true);
        body.insert("stream_options", [("include_usage", true.into())]);
    }
    body
}

fn message_json(message: &Message, family: &ModelFamily) -> Value {
    let mut json = Object::from([("role", message.role().as_str().into()), ("content", message.text().into())]);
    match message {
        Message::Assistant { text, tool_calls, reasoning } => {
            if !tool_calls.is_empty() {
                if text.is_empty() {
                    json.insert("content", Value::Null);
                }
                json.insert("tool_calls", tool_calls.iter().map(tool_call).collect::<Value>());
            }
            if family.needs_reasoning_back && !reasoning.is_empty() {
                json.insert(
                    "reasoning_content",
                    reasoning.iter().map(|Thought { text, .. }| text.as_str()).collect::<String>(),
                );
            }
        }
        Message::Tool { call, .. } => {
            json.insert("tool_call_id", call.as_str());
        }
        Message::System { .. } | Message::User { .. } => {}
    }
    json.into()
}

fn tool_call(call: &ToolCall) -> Value {
    let arguments = arguments(&call.arguments).to_string();
    let function = Value::from([("name", call.name.as_str().into()), ("arguments", arguments.into())]);
    Value::from([("id", call.id.as_str().into()), ("type", "function".into()), ("function", function)])
}

/// The value of `tool_choice`. `named` gives the value that forces a call of the tool with this name.
pub(crate) fn tool_choice(choice: &ToolChoice, named: fn(&str) -> Value) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Named(name) => Some(named(name)),
    }
}

/// The wrapper of a function that this format uses in declarations and choices.
fn function(declaration: Value) -> Value {
    Value::from([("type", "function".into()), ("function", declaration)])
}

fn named_choice(name: &str) -> Value {
    function(Value::from([("name", name.into())]))
}

fn response_format(requested: &ResponseFormat, used: FormatUsed) -> Option<Value> {
    match (used, requested) {
        (FormatUsed::Strict | FormatUsed::Schema, ResponseFormat::Schema { name, schema }) => {
            let json_schema = Value::from([
                ("name", name.as_str().into()),
                ("strict", (used == FormatUsed::Strict).into()),
                ("schema", schema.clone()),
            ]);
            Some(Value::from([("type", "json_schema".into()), ("json_schema", json_schema)]))
        }
        (FormatUsed::Json, _) => Some(Value::from([("type", "json_object".into())])),
        (FormatUsed::Text | FormatUsed::Schema | FormatUsed::Strict, _) => None,
    }
}

#[cfg(test)]
mod tests;
