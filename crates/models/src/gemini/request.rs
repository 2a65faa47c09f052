//! Request bodies.

use reknit_model_api::{Attachment, AttachmentSource, FormatUsed, Message, ModelRequest, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use super::STATE_FORMAT;
use super::family::{thinking_budget, thinking_config};
use super::parts::parts_to_send;
use crate::answer_builder::is_generated_id;
use crate::request_body::{RequestBody, arguments, strings, system_texts, tool_declaration, turns};
use crate::response_schema::negotiate;
use crate::{Provider, Target};

/// The path after the base URL.
pub(crate) fn path(model: &str, method: &str) -> String {
    format!("/models/{}:{method}", model.strip_prefix("models/").unwrap_or(model))
}

pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let (format_used, schema) = negotiate(target, &request.format);
    let mut body = RequestBody::new(format_used);
    body.insert_some("systemInstruction", system(request));
    body.insert("contents", turns(&request.messages, "model", "parts", |_, message| parts(target.provider, message)));
    if !request.tools.is_empty() {
        let declarations: Value =
            request.tools.iter().map(|tool| tool_declaration(tool, "parametersJsonSchema")).collect();
        body.insert("tools", vec![object! {"functionDeclarations": declarations}]);
        body.insert_some("toolConfig", tool_config(&request.tool_choice));
    }
    body.omit_if("parallel_tool_calls", request.parallel_tool_calls.is_some());
    let config = generation_config(&mut body, target, request, schema);
    body.insert("generationConfig", config);
    body.omit_if("metadata", !request.metadata.is_empty());
    body
}

fn generation_config(body: &mut RequestBody, target: &Target, request: &ModelRequest, schema: Option<Value>) -> Object {
    let mut config = Object::new();
    if let Some(temperature) = request.temperature {
        config.insert("temperature", temperature.to_number());
    }
    if let Some(top_p) = request.top_p {
        config.insert("topP", top_p.to_number());
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
    if let Some(schema) = schema {
        // Not `responseSchema`, which is another language than JSON Schema.
        config.insert("responseJsonSchema", schema);
    }
    let (option, thinking) = match (request.thinking_tokens, request.effort) {
        (None, None) => return config,
        (Some(tokens), _) => ("thinking_tokens", thinking_budget(&target.model, tokens)),
        (None, Some(effort)) => ("effort", thinking_config(&target.model, effort)),
    };
    match thinking {
        Some(thinking) => _ = config.insert("thinkingConfig", thinking),
        None => body.omit(option),
    }
    config
}

fn system(request: &ModelRequest) -> Option<Value> {
    let texts: Vec<Value> = system_texts(request).map(|text| object! {"text": text}).collect();
    (!texts.is_empty()).then(|| object! {"parts": texts})
}

fn parts(provider: Provider, message: &Message) -> Vec<Value> {
    if let Message::Tool { call, name, text, is_error, attachments } = message {
        let key = if *is_error { "error" } else { "output" };
        let mut response = Object::new();
        insert_id(&mut response, provider, call.as_str());
        response.insert("name", name.as_str());
        response.insert("response", [(key, text.as_str().into())]);
        let response = object! {"functionResponse": response};
        return [response].into_iter().chain(attachments.iter().map(attachment_part)).collect();
    }
    if let Message::Assistant { text, tool_calls, content_state: Some(state), .. } = message
        && let Some(parts) = parts_to_send(state, text, tool_calls, |tool_call| call(provider, tool_call))
    {
        return parts;
    }
    let text = Some(message.text()).filter(|text| !text.is_empty());
    let text = text.map(|text| object! {"text": text});
    let attachments = message.attachments().iter().map(attachment_part);
    let calls = message.tool_calls().iter().map(|tool_call| call(provider, tool_call));
    text.into_iter().chain(attachments).chain(calls).collect()
}

fn attachment_part(attachment: &Attachment) -> Value {
    let media_type = ("mimeType", attachment.media_type.as_str().into());
    match &attachment.source {
        AttachmentSource::Base64(data) => {
            object! {"inlineData": Value::from([media_type, ("data", data.as_str().into())])}
        }
        AttachmentSource::Url(url) | AttachmentSource::Path(url) => {
            object! {"fileData": Value::from([media_type, ("fileUri", url.as_str().into())])}
        }
    }
}

/// Vertex AI refuses an id that it did not give.
fn insert_id(into: &mut Object, provider: Provider, id: &str) {
    if provider != Provider::Vertex || !is_generated_id(id) {
        into.insert("id", id);
    }
}

fn call(provider: Provider, call: &ToolCall) -> Value {
    let mut function = Object::new();
    insert_id(&mut function, provider, call.id.as_str());
    function.insert("name", call.name.as_str());
    function.insert("args", arguments(&call.arguments));
    let mut part = Object::from([("functionCall", function.into())]);
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
    Some(object! {"functionCallingConfig": config})
}

#[cfg(test)]
mod tests;
