//! A request as the server wants it.

use reknit_dialogue::{Effort, Format, FormatUsed, Message, Request, Role, Thought, Tool, ToolCallId, ToolChoice};
use reknit_protocol::{Object, Value};

use super::family::{Family, Thinking, family};
use super::{HIDDEN_SEAL, SEAL};
use crate::openai::is_strict;
use crate::rendered::{Rendered, arguments, object};
use crate::{FormatSupport, Streaming, Target};

/// The least that the server takes.
const LEAST_BUDGET: u32 = 1024;

/// The body of the request.
pub(crate) fn render(target: &Target, request: &Request) -> Rendered {
    let family = family(&target.model);
    let mut rendered = Rendered::new(format_used(target.format, family, &request.format));
    rendered.insert("model", target.model.as_str());
    rendered.insert("max_tokens", request.max_tokens);
    rendered.insert_some("system", system(request).map(Value::from));
    rendered.insert("messages", messages(&request.messages));
    if !request.tools.is_empty() {
        rendered.insert("tools", request.tools.iter().map(tool).collect::<Value>());
        rendered.insert_some("tool_choice", tool_choice(&request.tool_choice).map(Value::from));
    }
    let thinking = thinking(&mut rendered, family, request);
    let temperature = request.temperature.filter(|temperature| temperature.hundredths() <= 100);
    if temperature != request.temperature {
        rendered.leave_out("temperature");
    }
    let temperature = temperature.map(|temperature| temperature.to_number().into());
    rendered.insert_if("temperature", family.sampling && !thinking, "temperature", temperature);
    if !request.stop.is_empty() {
        let stop: Value = request.stop.iter().map(|text| Value::from(text.as_str())).collect();
        rendered.insert("stop_sequences", stop);
    }
    if request.seed.is_some() {
        rendered.leave_out("seed");
    }
    // The one thing that this provider keeps.
    let user = request.metadata.get("user_id").map(|user| object([("user_id", user.as_str().into())]).into());
    if request.metadata.len() > usize::from(user.is_some()) {
        rendered.leave_out("metadata");
    }
    rendered.insert_some("metadata", user);
    if target.streaming == Streaming::On {
        rendered.insert("stream", true);
    }
    rendered
}

/// There is no JSON mode here: an answer is held to a whole schema, or to nothing.
fn format_used(support: FormatSupport, family: &Family, wish: &Format) -> FormatUsed {
    match (support, wish) {
        (FormatSupport::Schema, Format::Schema { schema, .. }) if family.schema && is_strict(schema) => {
            FormatUsed::Strict
        }
        _ => FormatUsed::Text,
    }
}

/// Adds how much to think and what form the answer has; says whether the model thinks.
fn thinking(rendered: &mut Rendered, family: &Family, request: &Request) -> bool {
    let mut output = Object::new();
    if let (FormatUsed::Strict, Format::Schema { schema, .. }) = (rendered.format_used, &request.format) {
        output.insert("format", object([("type", "json_schema".into()), ("schema", schema.clone())]));
    }
    // Who thinks cannot be forced to call a tool, and the call is what the request needs.
    let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
    let thinks = match (request.effort, family.thinking) {
        (None, _) | (Some(Effort::None), Thinking::Never | Thinking::Budget) => false,
        (Some(_), Thinking::Never) => {
            rendered.leave_out("effort");
            false
        }
        (Some(Effort::None), Thinking::Effort) => {
            rendered.insert("thinking", object([("type", "disabled".into())]));
            false
        }
        (Some(_), _) if forced => {
            rendered.leave_out("effort");
            false
        }
        (Some(effort), Thinking::Effort) => {
            rendered.insert("thinking", object([("type", "adaptive".into())]));
            let word = if effort == Effort::Minimal { Effort::Low } else { effort };
            output.insert("effort", word.as_str());
            true
        }
        (Some(effort), Thinking::Budget) => {
            let tokens = budget(effort, request.max_tokens);
            let thinking =
                tokens.map(|tokens| object([("type", "enabled".into()), ("budget_tokens", tokens.into())]).into());
            if thinking.is_none() {
                rendered.leave_out("effort");
            }
            rendered.insert_some("thinking", thinking);
            tokens.is_some()
        }
    };
    if !output.is_empty() {
        rendered.insert("output_config", output);
    }
    thinks
}

/// A part of what the answer may have, for the budget counts towards it; none if that is too little.
fn budget(effort: Effort, max_tokens: u32) -> Option<u32> {
    let tokens = match effort {
        Effort::None => return None,
        Effort::Minimal => LEAST_BUDGET,
        Effort::Low => max_tokens / 4,
        Effort::Medium => max_tokens / 2,
        Effort::High => max_tokens / 4 * 3,
    };
    Some(tokens.max(LEAST_BUDGET)).filter(|tokens| *tokens < max_tokens)
}

fn system(request: &Request) -> Option<String> {
    let texts: Vec<&str> =
        request.messages.iter().filter(|message| message.role() == Role::System).map(Message::text).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

/// The conversation in turns of user and model: answers of tools belong to the user, and all of one turn stand together.
fn messages(messages: &[Message]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::System { .. } => continue,
            Message::User { .. } | Message::Tool { .. } => ("user", blocks(message)),
            Message::Assistant { .. } => ("assistant", blocks(message)),
        };
        match turns.last_mut().filter(|turn| turn.0 == role) {
            Some(turn) => turn.1.extend(blocks),
            None => turns.push((role, blocks)),
        }
    }
    // A turn in which nothing was said would be refused.
    let said = turns.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    said.map(|(role, blocks)| Value::from(object([("role", role.into()), ("content", blocks.into())]))).collect()
}

fn blocks(message: &Message) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Message::Assistant { reasoning, .. } = message {
        blocks.extend(reasoning.iter().filter_map(thought));
    }
    match message {
        Message::Tool { call, text, is_error, .. } => {
            let mut result = object([
                ("type", "tool_result".into()),
                ("tool_use_id", id(call).into()),
                ("content", text.as_str().into()),
            ]);
            if *is_error {
                result.insert("is_error", true);
            }
            blocks.push(result.into());
        }
        // Blocks of text that are empty are refused.
        said if !said.text().trim().is_empty() => {
            blocks.push(object([("type", "text".into()), ("text", said.text().into())]).into());
        }
        _ => {}
    }
    blocks.extend(message.tool_calls().iter().map(|call| {
        Value::from(object([
            ("type", "tool_use".into()),
            ("id", id(&call.id).into()),
            ("name", call.name.as_str().into()),
            ("input", arguments(&call.arguments).into()),
        ]))
    }));
    blocks
}

/// A thought that this provider has sealed. Others would be refused.
fn thought(thought: &Thought) -> Option<Value> {
    let seal = thought.seal.as_ref()?;
    match seal.format.as_str() {
        SEAL => Some(
            object([
                ("type", "thinking".into()),
                ("thinking", thought.text.as_str().into()),
                ("signature", seal.text.as_str().into()),
            ])
            .into(),
        ),
        HIDDEN_SEAL => Some(object([("type", "redacted_thinking".into()), ("data", seal.text.as_str().into())]).into()),
        _ => None,
    }
}

/// The server takes letters, digits, `_` and `-`; ids of others may have more.
fn id(id: &ToolCallId) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    id.as_str().chars().map(plain).collect()
}

fn tool(tool: &Tool) -> Value {
    let tool = object([
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        ("input_schema", tool.schema.clone()),
    ]);
    tool.into()
}

fn tool_choice(choice: &ToolChoice) -> Option<Object> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(object([("type", "none".into())])),
        ToolChoice::Required => Some(object([("type", "any".into())])),
        ToolChoice::Named(name) => Some(object([("type", "tool".into()), ("name", name.as_str().into())])),
    }
}

#[cfg(test)]
mod tests;
