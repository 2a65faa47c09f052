//! A request as the server wants it.

use reknit_dialogue::{Format, FormatUsed, Message, Request, Role, Tool, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use super::SEAL;
use super::family::thinking;
use crate::Target;
use crate::rendered::{Rendered, arguments, object};

/// What follows the base URL.
pub(crate) fn path(model: &str, method: &str) -> String {
    format!("/models/{}:{method}", model.strip_prefix("models/").unwrap_or(model))
}

/// The body of the request.
pub(crate) fn render(target: &Target, request: &Request) -> Rendered {
    let mut rendered = Rendered::new(target.format.reduce(&request.format));
    rendered.insert_some("systemInstruction", system(request).map(Value::from));
    rendered.insert("contents", contents(&request.messages));
    if !request.tools.is_empty() {
        let declarations: Value = request.tools.iter().map(tool).collect();
        let tools = vec![Value::from(object([("functionDeclarations", declarations)]))];
        rendered.insert("tools", tools);
        rendered.insert_some("toolConfig", tool_config(&request.tool_choice).map(Value::from));
    }
    let config = generation_config(&mut rendered, target, request);
    rendered.insert("generationConfig", config);
    if !request.metadata.is_empty() {
        rendered.leave_out("metadata");
    }
    rendered
}

fn generation_config(rendered: &mut Rendered, target: &Target, request: &Request) -> Object {
    let mut config = Object::new();
    if let Some(temperature) = request.temperature {
        config.insert("temperature", temperature.to_number());
    }
    config.insert("maxOutputTokens", request.max_tokens);
    if !request.stop.is_empty() {
        let stop: Value = request.stop.iter().map(|text| Value::from(text.as_str())).collect();
        config.insert("stopSequences", stop);
    }
    // The field has 32 bits.
    match request.seed.map(i32::try_from) {
        Some(Ok(seed)) => {
            config.insert("seed", seed);
        }
        Some(Err(_too_large)) => rendered.leave_out("seed"),
        None => {}
    }
    if rendered.format_used != FormatUsed::Text {
        config.insert("responseMimeType", "application/json");
    }
    if let (FormatUsed::Strict | FormatUsed::Schema, Format::Schema { schema, .. }) =
        (rendered.format_used, &request.format)
    {
        // Not `responseSchema`, which knows only a part of JSON Schema and refuses the rest.
        config.insert("responseJsonSchema", schema.clone());
    }
    if let Some(effort) = request.effort {
        match thinking(&target.model, effort) {
            Some(thinking) => {
                config.insert("thinkingConfig", thinking);
            }
            None => rendered.leave_out("effort"),
        }
    }
    config
}

fn system(request: &Request) -> Option<Object> {
    let texts: Vec<Value> = request
        .messages
        .iter()
        .filter(|message| message.role() == Role::System)
        .map(|message| object([("text", message.text().into())]).into())
        .collect();
    Some(texts).filter(|texts| !texts.is_empty()).map(|texts| object([("parts", texts.into())]))
}

/// The conversation in turns of user and model: answers of tools belong to the user, and all of one turn stand together.
fn contents(messages: &[Message]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            Message::System { .. } => continue,
            Message::User { .. } | Message::Tool { .. } => ("user", parts(message)),
            Message::Assistant { .. } => ("model", parts(message)),
        };
        match turns.last_mut().filter(|turn| turn.0 == role) {
            Some(turn) => turn.1.extend(parts),
            None => turns.push((role, parts)),
        }
    }
    // A turn in which nothing was said would be refused.
    let said = turns.into_iter().filter(|(_, parts)| !parts.is_empty());
    said.map(|(role, parts)| Value::from(object([("role", role.into()), ("parts", parts.into())]))).collect()
}

fn parts(message: &Message) -> Vec<Value> {
    if let Message::Tool { call, name, text, is_error } = message {
        let word = if *is_error { "error" } else { "output" };
        let response = object([
            ("id", call.as_str().into()),
            ("name", name.as_str().into()),
            ("response", object([(word, text.as_str().into())]).into()),
        ]);
        return vec![object([("functionResponse", response.into())]).into()];
    }
    let words = Some(message.text()).filter(|text| !text.is_empty());
    let words = words.map(|text| Value::from(object([("text", text.into())])));
    words.into_iter().chain(message.tool_calls().iter().map(call)).collect()
}

fn call(call: &ToolCall) -> Value {
    let function = object([
        ("id", call.id.as_str().into()),
        ("name", call.name.as_str().into()),
        ("args", arguments(&call.arguments).into()),
    ]);
    let mut part = object([("functionCall", function.into())]);
    if let Some(seal) = call.seal.as_ref().filter(|seal| seal.format == SEAL) {
        part.insert("thoughtSignature", seal.text.as_str());
    }
    part.into()
}

fn tool(tool: &Tool) -> Value {
    let declaration = object([
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        ("parametersJsonSchema", tool.schema.clone()),
    ]);
    declaration.into()
}

fn tool_config(choice: &ToolChoice) -> Option<Object> {
    let mut config = object([(
        "mode",
        match choice {
            ToolChoice::Auto => return None,
            ToolChoice::None => "NONE",
            ToolChoice::Required | ToolChoice::Named(_) => "ANY",
        }
        .into(),
    )]);
    if let ToolChoice::Named(name) = choice {
        config.insert("allowedFunctionNames", vec![Value::from(name.as_str())]);
    }
    Some(object([("functionCallingConfig", config.into())]))
}

#[cfg(test)]
mod tests;
