//! A request as the server wants it.

use reknit_dialogue::{Format, FormatUsed, Message, Request, Thought, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use super::family::{Family, family};
use crate::rendered::{Rendered, arguments, object};
use crate::{Streaming, Target};

/// The body of the request.
pub(crate) fn render(target: &Target, request: &Request) -> Rendered {
    let family = family(&target.model);
    let mut rendered = Rendered::new(target.format.reduce(&request.format));
    rendered.insert("model", target.model.as_str());
    rendered.insert("messages", request.messages.iter().map(|said| message(said, family)).collect::<Value>());
    if !request.tools.is_empty() {
        rendered.insert("tools", tools(request));
        rendered.insert_some("tool_choice", tool_choice(&request.tool_choice));
    }
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    rendered.insert_if("temperature", family.sampling, "temperature", temperature);
    rendered.insert(family.max_tokens, request.max_tokens);
    let stop = Some(texts(&request.stop)).filter(|_| !request.stop.is_empty());
    rendered.insert_if("stop", family.sampling, "stop", stop);
    rendered.insert_some("seed", request.seed.map(Value::from));
    let effort = request.effort.map(|effort| family.effort(effort).unwrap_or_default().into());
    rendered.insert_if("reasoning_effort", !family.efforts.is_empty(), "effort", effort);
    if !request.metadata.is_empty() {
        // Taken only together with the wish that the provider keeps the whole conversation.
        rendered.leave_out("metadata");
    }
    rendered.insert_some("response_format", response_format(&request.format, rendered.format_used).map(Value::from));
    if target.streaming == Streaming::On {
        rendered.insert("stream", true);
        rendered.insert("stream_options", object([("include_usage", true.into())]));
    }
    rendered
}

fn message(message: &Message, family: &Family) -> Value {
    let mut said = object([("role", message.role().as_str().into()), ("content", message.text().into())]);
    match message {
        Message::Assistant { text, tool_calls, reasoning } => {
            if !tool_calls.is_empty() {
                if text.is_empty() {
                    said.insert("content", Value::Null);
                }
                said.insert("tool_calls", tool_calls.iter().map(tool_call).collect::<Value>());
            }
            if family.recalls_reasoning && !reasoning.is_empty() {
                said.insert(
                    "reasoning_content",
                    reasoning.iter().map(|Thought { text, .. }| text.as_str()).collect::<String>(),
                );
            }
        }
        Message::Tool { call, .. } => {
            said.insert("tool_call_id", call.as_str());
        }
        Message::System { .. } | Message::User { .. } => {}
    }
    said.into()
}

fn tool_call(call: &ToolCall) -> Value {
    let function =
        object([("name", call.name.as_str().into()), ("arguments", arguments(&call.arguments).to_string().into())]);
    object([("id", call.id.as_str().into()), ("type", "function".into()), ("function", function.into())]).into()
}

fn tools(request: &Request) -> Value {
    let tool = |tool: &reknit_dialogue::Tool| {
        let function = object([
            ("name", tool.name.as_str().into()),
            ("description", tool.description.as_str().into()),
            ("parameters", tool.schema.clone()),
        ]);
        Value::from(object([("type", "function".into()), ("function", function.into())]))
    };
    request.tools.iter().map(tool).collect()
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Named(name) => {
            let function = object([("name", name.as_str().into())]);
            Some(object([("type", "function".into()), ("function", function.into())]).into())
        }
    }
}

fn texts(texts: &[String]) -> Value {
    texts.iter().map(|text| Value::from(text.as_str())).collect()
}

fn response_format(wish: &Format, used: FormatUsed) -> Option<Object> {
    match (used, wish) {
        (FormatUsed::Strict | FormatUsed::Schema, Format::Schema { name, schema }) => {
            let json_schema = object([
                ("name", name.as_str().into()),
                ("strict", (used == FormatUsed::Strict).into()),
                ("schema", schema.clone()),
            ]);
            Some(object([("type", "json_schema".into()), ("json_schema", json_schema.into())]))
        }
        (FormatUsed::Json, _) => Some(object([("type", "json_object".into())])),
        (FormatUsed::Text | FormatUsed::Schema | FormatUsed::Strict, _) => None,
    }
}

#[cfg(test)]
mod tests;
