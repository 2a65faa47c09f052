//! Request bodies.

use reknit_dialogue::{
    Effort, FormatUsed, Message, ModelRequest, ResponseFormat, Role, Thought, ToolCallId, ToolChoice,
};
use reknit_protocol::{Object, Value};

use super::family::{ModelFamily, ThinkingSetting, family};
use super::{REDACTED_STATE_FORMAT, STATE_FORMAT};
use crate::openai::is_strict;
use crate::request_body::{RequestBody, arguments, strings, tool_declaration, turns};
use crate::{FormatSupport, Streaming, Target};

/// The smallest budget that the server accepts.
const MIN_BUDGET: u32 = 1024;

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let family = family(&target.model);
    let mut body = RequestBody::new(format_used(target.format, family, &request.format));
    body.insert("model", target.model.as_str());
    body.insert("max_tokens", request.max_tokens);
    body.insert_some("system", system(request));
    body.insert("messages", turns(&request.messages, "assistant", "content", blocks));
    if !request.tools.is_empty() {
        body.insert(
            "tools",
            request.tools.iter().map(|tool| tool_declaration(tool, "input_schema")).collect::<Value>(),
        );
        body.insert_some("tool_choice", tool_choice(&request.tool_choice));
    }
    let reasons = insert_output_config(&mut body, family, request);
    let in_range = request.temperature.is_none_or(|temperature| temperature.hundredths() <= 100);
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    body.insert_if("temperature", family.sampling && !reasons && in_range, "temperature", temperature);
    if !request.stop.is_empty() {
        body.insert("stop_sequences", strings(&request.stop));
    }
    body.omit_if("seed", request.seed.is_some());
    // The only metadata that this provider stores.
    let user = request.metadata.get("user_id").map(|user| Value::from([("user_id", user.as_str().into())]));
    body.omit_if("metadata", request.metadata.len() > usize::from(user.is_some()));
    body.insert_some("metadata", user);
    if target.streaming == Streaming::On {
        body.insert("stream", true);
    }
    body
}

/// There is no JSON mode: an answer is constrained to a strict schema or not at all.
fn format_used(support: FormatSupport, family: &ModelFamily, requested: &ResponseFormat) -> FormatUsed {
    match (support, requested) {
        (FormatSupport::Schema, ResponseFormat::Schema { schema, .. }) if family.schema && is_strict(schema) => {
            FormatUsed::Strict
        }
        _ => FormatUsed::Text,
    }
}

/// Inserts the reasoning settings and the response format; true if the model will reason.
fn insert_output_config(body: &mut RequestBody, family: &ModelFamily, request: &ModelRequest) -> bool {
    let mut output = Object::new();
    if let (FormatUsed::Strict, ResponseFormat::Schema { schema, .. }) = (body.format_used, &request.format) {
        output.insert("format", [("type", "json_schema".into()), ("schema", schema.clone())]);
    }
    // Reasoning and a forced tool call exclude each other, and the request needs the call.
    let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
    let reasons = match (request.effort, family.thinking) {
        (None, _) | (Some(Effort::None), ThinkingSetting::Never | ThinkingSetting::Budget) => false,
        (Some(_), ThinkingSetting::Never) => {
            body.omit("effort");
            false
        }
        (Some(Effort::None), ThinkingSetting::Effort) => {
            body.insert("thinking", [("type", "disabled".into())]);
            false
        }
        (Some(_), _) if forced => {
            body.omit("effort");
            false
        }
        (Some(effort), ThinkingSetting::Effort) => {
            body.insert("thinking", [("type", "adaptive".into())]);
            let effort = if effort == Effort::Minimal { Effort::Low } else { effort };
            output.insert("effort", effort.as_str());
            true
        }
        (Some(effort), ThinkingSetting::Budget) => {
            let tokens = budget(effort, request.max_tokens);
            match tokens {
                Some(tokens) => body.insert("thinking", [("type", "enabled".into()), ("budget_tokens", tokens.into())]),
                None => body.omit("effort"),
            }
            tokens.is_some()
        }
    };
    if !output.is_empty() {
        body.insert("output_config", output);
    }
    reasons
}

/// The token budget for reasoning, which is a part of `max_tokens`; none if that is too small.
fn budget(effort: Effort, max_tokens: u32) -> Option<u32> {
    let tokens = match effort {
        Effort::None => return None,
        Effort::Minimal => MIN_BUDGET,
        Effort::Low => max_tokens / 4,
        Effort::Medium => max_tokens / 2,
        Effort::High => max_tokens / 4 * 3,
    };
    Some(tokens.max(MIN_BUDGET)).filter(|tokens| *tokens < max_tokens)
}

fn system(request: &ModelRequest) -> Option<String> {
    let texts: Vec<&str> =
        request.messages.iter().filter(|message| message.role() == Role::System).map(Message::text).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

fn blocks(message: &Message) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Message::Assistant { reasoning, .. } = message {
        blocks.extend(reasoning.iter().filter_map(thought));
    }
    match message {
        Message::Tool { call, text, is_error, .. } => {
            let mut result = Object::from([
                ("type", "tool_result".into()),
                ("tool_use_id", id(call).into()),
                ("content", text.as_str().into()),
            ]);
            if *is_error {
                result.insert("is_error", true);
            }
            blocks.push(result.into());
        }
        // The server refuses empty text blocks.
        message if !message.text().trim().is_empty() => {
            blocks.push([("type", "text".into()), ("text", message.text().into())].into());
        }
        _ => {}
    }
    blocks.extend(message.tool_calls().iter().map(|call| {
        Value::from([
            ("type", "tool_use".into()),
            ("id", id(&call.id).into()),
            ("name", call.name.as_str().into()),
            ("input", arguments(&call.arguments).into()),
        ])
    }));
    blocks
}

/// The block of a thought that carries this provider's state. The server refuses others.
fn thought(thought: &Thought) -> Option<Value> {
    let state = thought.provider_state.as_ref()?;
    match state.format.as_str() {
        STATE_FORMAT => Some(Value::from([
            ("type", "thinking".into()),
            ("thinking", thought.text.as_str().into()),
            ("signature", state.text.as_str().into()),
        ])),
        REDACTED_STATE_FORMAT => {
            Some(Value::from([("type", "redacted_thinking".into()), ("data", state.text.as_str().into())]))
        }
        _ => None,
    }
}

/// The server accepts letters, digits, `_` and `-`; ids of other providers may contain more.
fn id(id: &ToolCallId) -> String {
    let replace = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    id.as_str().chars().map(replace).collect()
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Value::from([("type", "none".into())])),
        ToolChoice::Required => Some(Value::from([("type", "any".into())])),
        ToolChoice::Named(name) => Some(Value::from([("type", "tool".into()), ("name", name.as_str().into())])),
    }
}

#[cfg(test)]
mod tests;
