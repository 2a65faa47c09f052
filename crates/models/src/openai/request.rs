//! Request bodies.

use reknit_model_api::{
    Attachment, AttachmentKind, Effort, FormatUsed, Message, ModelRequest, ResponseFormat, Thought, ToolChoice,
};
use reknit_protocol::{Object, Value};

use super::family::{ModelFamily, Reasoning, family};
use super::reasoning_details;
use crate::attachments::{address, base64_of, file_name, subtype};
use crate::prompt_cache::cache_key;
use crate::request_body::{
    RequestBody, attachments_note, function, image_part, strings, text_and_parts, text_part, tool_call,
    tool_declaration, user_message,
};
use crate::response_schema::negotiate;
use crate::{Provider, Streaming, Target};

pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let family = family(&target.model);
    let (format_used, schema) = negotiate(target, &request.format);
    let mut body = RequestBody::new(format_used);
    body.insert("model", target.model.as_str());
    body.insert("messages", messages(target, request, family));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| function(tool_declaration(tool, "parameters")));
        body.insert("tools", tools.collect::<Value>());
        body.insert_some("tool_choice", tool_choice(&request.tool_choice, named_choice));
        let parallel = request.parallel_tool_calls.map(Value::from);
        body.insert_if("parallel_tool_calls", family.parallel_calls, "parallel_tool_calls", parallel);
    }
    body.insert_sampling(family.sampling, request);
    body.insert(family.max_tokens, request.max_tokens);
    let stop = Some(strings(&request.stop)).filter(|_| !request.stop.is_empty());
    body.insert_if("stop", family.sampling, "stop", stop);
    body.insert_some("seed", request.seed.map(Value::from));
    insert_effort(&mut body, family, request);
    body.omit_if("thinking_tokens", request.thinking_tokens.is_some_and(|tokens| tokens > 0));
    if target.provider == Provider::OpenAi {
        body.insert_some("prompt_cache_key", cache_key(target, request));
    }
    // The server accepts metadata only if it may store the whole conversation.
    body.omit_if("metadata", !request.metadata.is_empty());
    body.insert_some("response_format", response_format(&request.format, format_used, schema));
    if target.streaming == Streaming::On {
        body.insert("stream", true);
        if accepts_stream_options(&target.base_url) {
            body.insert("stream_options", [("include_usage", true.into())]);
        }
    }
    body
}

fn insert_effort(body: &mut RequestBody, family: &ModelFamily, request: &ModelRequest) {
    if family.reasoning != Reasoning::Switchable {
        let effort = request.effort.map(|effort| family.effort(effort).unwrap_or_default().into());
        return body.insert_if("reasoning_effort", !family.efforts.is_empty(), "effort", effort);
    }
    // The request needs the call more than the reasoning.
    let forced = !request.tools.is_empty() && request.tool_choice.is_forced();
    body.omit_if("effort", request.effort.is_some_and(|effort| effort != Effort::None));
    if forced || request.effort == Some(Effort::None) || request.thinking_tokens == Some(0) {
        body.insert("thinking", [("type", "disabled".into())]);
    }
}

/// The conversation. A result has no place for attachments, so they follow in a message of the user.
fn messages(target: &Target, request: &ModelRequest, family: &ModelFamily) -> Value {
    let mut messages = Vec::new();
    let mut of_results = Vec::new();
    for message in &request.messages {
        if !of_results.is_empty() && !matches!(message, Message::Tool { .. }) {
            messages.push(user_message(std::mem::take(&mut of_results)));
        }
        messages.push(message_json(target, message, family));
        if let Message::Tool { call, attachments, .. } = message
            && !attachments.is_empty()
        {
            of_results.push(text_part(&attachments_note(call)));
            of_results.extend(attachments.iter().map(attachment_part));
        }
    }
    if !of_results.is_empty() {
        messages.push(user_message(of_results));
    }
    messages.into()
}

fn attachment_part(attachment: &Attachment) -> Value {
    match attachment.kind() {
        AttachmentKind::Image => image_part(attachment),
        AttachmentKind::Audio => {
            let format = match subtype(attachment) {
                "mpeg" => "mp3",
                "x-wav" | "wave" => "wav",
                other => other,
            };
            let data = base64_of(attachment).unwrap_or_default();
            let audio = object! {"data": data, "format": format};
            object! {"type": "input_audio", "input_audio": audio}
        }
        AttachmentKind::Document => {
            let file = object! {"filename": file_name(attachment), "file_data": address(attachment)};
            object! {"type": "file", "file": file}
        }
    }
}

fn message_json(target: &Target, message: &Message, family: &ModelFamily) -> Value {
    let mut json = Object::from([("role", message.role().as_str().into()), ("content", message.text().into())]);
    match message {
        Message::User { text, attachments } if !attachments.is_empty() => {
            json.insert("content", text_and_parts(text, attachments.iter().map(attachment_part)));
        }
        Message::Assistant { text, tool_calls, reasoning, content_state } => {
            if !tool_calls.is_empty() {
                if text.is_empty() {
                    json.insert("content", Value::Null);
                }
                json.insert("tool_calls", tool_calls.iter().map(tool_call).collect::<Value>());
            }
            // Other servers of this format may refuse a field that they do not know.
            let details = content_state.as_ref().filter(|state| {
                state.format == reasoning_details::STATE_FORMAT && target.provider == Provider::Compatible
            });
            if let Some(details) = details.and_then(|state| Value::parse(&state.text).ok()) {
                json.insert("reasoning_details", details);
            } else if family.needs_reasoning_back() && !reasoning.is_empty() {
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

/// The value of `tool_choice`. `named` gives the value that forces a call of the tool with this name.
pub(crate) fn tool_choice(choice: &ToolChoice, named: fn(&str) -> Value) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Named(name) => Some(named(name)),
    }
}

fn named_choice(name: &str) -> Value {
    function(object! {"name": name})
}

fn response_format(requested: &ResponseFormat, used: FormatUsed, schema: Option<Value>) -> Option<Value> {
    match (requested, schema) {
        (ResponseFormat::Schema { name, .. }, Some(schema)) => {
            let json_schema = object! {"name": name.as_str(), "strict": used == FormatUsed::Strict, "schema": schema};
            Some(object! {"type": "json_schema", "json_schema": json_schema})
        }
        _ if used == FormatUsed::Json => Some(object! {"type": "json_object"}),
        _ => None,
    }
}

/// Hosts, with all their subdomains, that refuse a request with `stream_options`. They report the usage of a stream anyway,
/// or never.
const WITHOUT_STREAM_OPTIONS: &[&str] = &["mistral.ai", "gatewayz.ai", "databricks.com", "azuredatabricks.net"];

fn accepts_stream_options(base_url: &str) -> bool {
    let after_scheme = base_url.trim().split_once("://").map_or(base_url, |(_, rest)| rest);
    let host = after_scheme.split(['/', ':', '?']).next().unwrap_or_default().to_ascii_lowercase();
    !WITHOUT_STREAM_OPTIONS
        .iter()
        .any(|known| host.strip_suffix(known).is_some_and(|subdomain| subdomain.is_empty() || subdomain.ends_with('.')))
}

#[cfg(test)]
mod tests;
