//! A request as the server wants it.

use reknit_dialogue::{Format, FormatUsed, Message, Request, Thought, Tool, ToolChoice};
use reknit_protocol::{Object, Value};

use super::SEAL;
use crate::openai::{family, is_strict};
use crate::rendered::{Rendered, arguments, object};
use crate::{Streaming, Target};

/// The body of the request.
pub(crate) fn render(target: &Target, request: &Request) -> Rendered {
    let family = family(&target.model);
    let mut rendered = Rendered::new(target.format.reduce(&request.format));
    rendered.insert("model", target.model.as_str());
    rendered.insert("input", request.messages.iter().flat_map(items).collect::<Value>());
    if !request.tools.is_empty() {
        rendered.insert("tools", request.tools.iter().map(tool).collect::<Value>());
        rendered.insert_some("tool_choice", tool_choice(&request.tool_choice));
    }
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    rendered.insert_if("temperature", family.sampling, "temperature", temperature);
    rendered.insert("max_output_tokens", request.max_tokens);
    let word = |effort| family.effort(effort).unwrap_or_default();
    let effort = request.effort.map(|effort| object([("effort", word(effort).into())]).into());
    rendered.insert_if("reasoning", !family.efforts.is_empty(), "effort", effort);
    for (wish, is_there) in [("stop", !request.stop.is_empty()), ("seed", request.seed.is_some())] {
        if is_there {
            rendered.leave_out(wish);
        }
    }
    if !request.metadata.is_empty() {
        let metadata: Object =
            request.metadata.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
        rendered.insert("metadata", metadata);
    }
    rendered.insert_some("text", text_format(&request.format, rendered.format_used).map(Value::from));
    // Every question carries its whole conversation; the provider need not keep it.
    rendered.insert("store", false);
    if !family.efforts.is_empty() {
        rendered.insert("include", vec![Value::from("reasoning.encrypted_content")]);
    }
    if target.streaming == Streaming::On {
        rendered.insert("stream", true);
    }
    rendered
}

fn items(message: &Message) -> Vec<Value> {
    let said = || object([("role", message.role().as_str().into()), ("content", message.text().into())]).into();
    match message {
        Message::System { .. } | Message::User { .. } => vec![said()],
        Message::Assistant { text, tool_calls, reasoning } => {
            let mut items: Vec<Value> = reasoning.iter().filter_map(thought).collect();
            if !text.is_empty() {
                items.push(said());
            }
            items.extend(tool_calls.iter().map(|call| {
                Value::from(object([
                    ("type", "function_call".into()),
                    ("call_id", call.id.as_str().into()),
                    ("name", call.name.as_str().into()),
                    ("arguments", arguments(&call.arguments).to_string().into()),
                ]))
            }));
            items
        }
        Message::Tool { call, text, .. } => vec![
            object([
                ("type", "function_call_output".into()),
                ("call_id", call.as_str().into()),
                ("output", text.as_str().into()),
            ])
            .into(),
        ],
    }
}

/// A thought that this provider has sealed: the item as it came.
fn thought(thought: &Thought) -> Option<Value> {
    let seal = thought.seal.as_ref().filter(|seal| seal.format == SEAL)?;
    Value::parse(&seal.text).ok()
}

fn tool(tool: &Tool) -> Value {
    let tool = object([
        ("type", "function".into()),
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        ("parameters", tool.schema.clone()),
        // Without a word about it the server would take the schema for a strict one, and refuse most.
        ("strict", is_strict(&tool.schema).into()),
    ]);
    tool.into()
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Named(name) => Some(object([("type", "function".into()), ("name", name.as_str().into())]).into()),
    }
}

fn text_format(wish: &Format, used: FormatUsed) -> Option<Object> {
    let format = match (used, wish) {
        (FormatUsed::Strict | FormatUsed::Schema, Format::Schema { name, schema }) => object([
            ("type", "json_schema".into()),
            ("name", name.as_str().into()),
            ("strict", (used == FormatUsed::Strict).into()),
            ("schema", schema.clone()),
        ]),
        (FormatUsed::Json, _) => object([("type", "json_object".into())]),
        (FormatUsed::Text | FormatUsed::Schema | FormatUsed::Strict, _) => return None,
    };
    Some(object([("format", format.into())]))
}

#[cfg(test)]
mod tests;
