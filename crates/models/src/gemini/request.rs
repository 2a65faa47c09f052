//! Request bodies.

use reknit_dialogue::{FormatUsed, Message, ModelRequest, ResponseFormat, Role, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use super::STATE_FORMAT;
use super::family::thinking_config;
use crate::Target;
use crate::request_body::{RequestBody, arguments, strings, tool_declaration, turns};

/// The path after the base URL.
pub(crate) fn path(model: &str, method: &str) -> String {
    format!("/models/{}:{method}", model.strip_prefix("models/").unwrap_or(model))
}

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let mut body = RequestBody::new(target.format.reduce(&request.format));
    body.insert_some("systemInstruction", system(request));
    body.insert("contents", turns(&request.messages, "model", "parts", parts));
    if !request.tools.is_empty() {
        let declarations: Value =
            request.tools.iter().map(|tool| tool_declaration(tool, "parametersJsonSchema")).collect();
        body.insert("tools", vec![Value::from([("functionDeclarations", declarations)])]);
        body.insert_some("toolConfig", tool_config(&request.tool_choice));
    }
    let config = generation_config(&mut body, target, request);
    body.insert("generationConfig", config);
    body.omit_if("metadata", !request.metadata.is_empty());
    body
}

fn generation_config(body: &mut RequestBody, target: &Target, request: &ModelRequest) -> Object {
    let mut config = Object::new();
    if let Some(temperature) = request.temperature {
        config.insert("temperature", temperature.to_number());
    }
    config.insert("maxOutputTokens", request.max_tokens);
    if !request.stop.is_empty() {
        config.insert("stopSequences", strings(&request.stop));
    }
    // The field is a 32-bit integer.
    match request.seed.map(i32::try_from) {
        Some(Ok(seed)) => {
            config.insert("seed", seed);
        }
        Some(Err(_too_large)) => body.omit("seed"),
        None => {}
    }
    if body.format_used != FormatUsed::Text {
        config.insert("responseMimeType", "application/json");
    }
    if let (FormatUsed::Strict | FormatUsed::Schema, ResponseFormat::Schema { schema, .. }) =
        (body.format_used, &request.format)
    {
        // Not `responseSchema`, which supports only a part of JSON Schema and refuses the rest.
        config.insert("responseJsonSchema", schema.clone());
    }
    if let Some(effort) = request.effort {
        match thinking_config(&target.model, effort) {
            Some(thinking) => {
                config.insert("thinkingConfig", thinking);
            }
            None => body.omit("effort"),
        }
    }
    config
}

fn system(request: &ModelRequest) -> Option<Value> {
    let messages = request.messages.iter().filter(|message| message.role() == Role::System);
    let texts: Vec<Value> = messages.map(|message| Value::from([("text", message.text().into())])).collect();
    (!texts.is_empty()).then(|| Value::from([("parts", texts.into())]))
}

fn parts(message: &Message) -> Vec<Value> {
    if let Message::Tool { call, name, text, is_error } = message {
        let key = if *is_error { "error" } else { "output" };
        let response = Value::from([
            ("id", call.as_str().into()),
            ("name", name.as_str().into()),
            ("response", [(key, text.as_str().into())].into()),
        ]);
        return vec![Value::from([("functionResponse", response)])];
    }
    let text = Some(message.text()).filter(|text| !text.is_empty());
    let text = text.map(|text| Value::from([("text", text.into())]));
    text.into_iter().chain(message.tool_calls().iter().map(call)).collect()
}

fn call(call: &ToolCall) -> Value {
    let function = Value::from([
        ("id", call.id.as_str().into()),
        ("name", call.name.as_str().into()),
        ("args", arguments(&call.arguments).into()),
    ]);
    let mut part = Object::from([("functionCall", function)]);
    if let Some(state) = call.provider_state.as_ref().filter(|state| state.format == STATE_FORMAT) {
        part.insert("thoughtSignature", state.text.as_str());
    }
    part.into()
}

fn tool_config(choice: &ToolChoice) -> Option<Value> {
    let mode = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "NONE",
        ToolChoice::Required | ToolChoice::Named(_) => "ANY",
    };
    let mut config = Object::from([("mode", mode.into())]);
    if let ToolChoice::Named(name) = choice {
        config.insert("allowedFunctionNames", vec![Value::from(name.as_str())]);
    }
    Some(Value::from([("functionCallingConfig", config.into())]))
}

#[cfg(test)]
mod tests;
