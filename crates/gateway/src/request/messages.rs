//! Requests of `messages`.

use reknit_model_api::{
    Attachment, Message, ModelRequest, ProviderState, ResponseFormat, Thought, ToolCall, ToolChoice,
};
use reknit_protocol::{Number, Value};

use super::RequestError;
use super::chat::{definition, name_of};
use super::options::Options;
use crate::json::{at, count, text};

pub(super) fn read(options: &mut Options<'_>) -> Result<ModelRequest, RequestError> {
    let mut request = options.sampling()?;
    let system = options.get("system").map(blocks_text).unwrap_or_default();
    if !system.is_empty() {
        request.messages.push(Message::system(system));
    }
    for (index, message) in options.list("messages")?.iter().enumerate() {
        read_message(message, &mut request.messages, options).map_err(|error| error.in_item("messages", index))?;
    }
    request.max_tokens = options.count("max_tokens")?.ok_or_else(|| RequestError::missing("max_tokens"))?;
    request.stop = options.words("stop_sequences")?;
    for tool in options.list("tools")? {
        match text(tool, &["type"]) {
            None | Some("custom") => request.tools.push(definition(tool, "input_schema")?),
            Some(_) => options.note_foreign_tool(tool),
        }
    }
    if let Some(choice) = options.get("tool_choice") {
        request.tool_choice = match (text(choice, &["type"]), text(choice, &["name"])) {
            (Some("auto"), _) => ToolChoice::Auto,
            (Some("none"), _) => ToolChoice::None,
            (Some("any"), _) => ToolChoice::Required,
            (Some("tool"), Some(name)) => ToolChoice::Named(name.to_owned()),
            _ => return Err(RequestError::not_a("tool_choice", "`auto`, `none`, `any` or the name of a tool")),
        };
        let single = at(choice, &["disable_parallel_tool_use"]).and_then(Value::as_bool);
        request.parallel_tool_calls = single.map(|single| !single);
    }
    if let Some(thinking) = options.get("thinking") {
        request.thinking_tokens = match text(thinking, &["type"]) {
            Some("disabled") => Some(0),
            _ => count(thinking, &["budget_tokens"]).and_then(|tokens| u32::try_from(tokens).ok()),
        };
    }
    let format = options.get("output_format");
    let config = options.get("output_config").and_then(|config| at(config, &["format"]));
    if let Some(schema) = format.or(config).and_then(|format| at(format, &["schema"])) {
        request.format = ResponseFormat::Schema { name: "answer".to_owned(), schema: schema.clone() };
    }
    // Other APIs have no such option, so it does not count as read.
    if let Some(top_k) =
        options.unread_field("top_k").filter(|top_k| top_k.as_number().and_then(Number::as_u64).is_none())
    {
        return Err(RequestError(format!("`top_k` is {top_k}, not a count")));
    }
    Ok(request)
}

/// Reads a message. The results of several calls are one message here, and one message each for other servers.
fn read_message(message: &Value, messages: &mut Vec<Message>, options: &mut Options<'_>) -> Result<(), RequestError> {
    let blocks = match at(message, &["content"]) {
        Some(Value::String(content)) => vec![Value::Object(object! {"type": "text", "text": content.as_str()})],
        Some(Value::Array(blocks)) => blocks.clone(),
        _ => return Err(RequestError::missing("content")),
    };
    match text(message, &["role"]) {
        Some("user") => read_user(&blocks, messages, options),
        Some("assistant") => messages.push(read_assistant(&blocks, options)),
        Some(other) => return Err(RequestError(format!("there is no role `{other}`"))),
        None => return Err(RequestError::missing("role")),
    }
    Ok(())
}

fn read_user(blocks: &[Value], messages: &mut Vec<Message>, options: &mut Options<'_>) {
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for block in blocks {
        match text(block, &["type"]).unwrap_or_default() {
            "text" => texts.push(text(block, &["text"]).unwrap_or_default()),
            "image" | "document" => attachments.extend(attachment(block, options)),
            "tool_result" => {
                let call = text(block, &["tool_use_id"]).unwrap_or_default();
                let content = at(block, &["content"]);
                let more = content.and_then(Value::as_array).unwrap_or_default();
                let is_other = |block: &&Value| text(block, &["type"]) != Some("text");
                messages.push(Message::Tool {
                    call: call.into(),
                    name: name_of(call, messages),
                    text: content.map(blocks_text).unwrap_or_default(),
                    is_error: at(block, &["is_error"]).and_then(Value::as_bool).unwrap_or(false),
                    attachments: more.iter().filter(is_other).filter_map(|block| attachment(block, options)).collect(),
                });
            }
            other => options.note_foreign(format!("a block of the type `{other}`")),
        }
    }
    if !texts.is_empty() || !attachments.is_empty() {
        messages.push(Message::user(texts.join("\n")).with_attachments(attachments));
    }
}

fn read_assistant(blocks: &[Value], options: &mut Options<'_>) -> Message {
    let (mut texts, mut tool_calls, mut reasoning) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        match text(block, &["type"]).unwrap_or_default() {
            "text" => texts.push(text(block, &["text"]).unwrap_or_default()),
            "tool_use" => {
                let input = at(block, &["input"]).map_or_else(|| "{}".to_owned(), Value::to_string);
                let (id, name) = (text(block, &["id"]), text(block, &["name"]));
                tool_calls.push(ToolCall::new(id.unwrap_or_default(), name.unwrap_or_default(), input));
            }
            "thinking" => {
                let signature = text(block, &["signature"]).filter(|signature| !signature.is_empty());
                let provider_state = signature.map(|signature| ProviderState::new("anthropic", signature));
                reasoning
                    .push(Thought { text: text(block, &["thinking"]).unwrap_or_default().to_owned(), provider_state });
            }
            // Only the server that wrote it can read it.
            "redacted_thinking" => {}
            other => options.note_foreign(format!("a block of the type `{other}`")),
        }
    }
    Message::Assistant { text: texts.concat(), tool_calls, reasoning, content_state: None }
}

fn attachment(block: &Value, options: &mut Options<'_>) -> Option<Attachment> {
    let media_type = text(block, &["source", "media_type"]);
    let name = text(block, &["title"]).map(str::to_owned);
    let kind = if text(block, &["type"]) == Some("image") { "image/*" } else { "application/pdf" };
    let found = match text(block, &["source", "type"]) {
        Some("base64") => {
            Attachment::base64(media_type.unwrap_or(kind), text(block, &["source", "data"]).unwrap_or_default())
        }
        Some("url") => Attachment::url(kind, text(block, &["source", "url"]).unwrap_or_default()),
        Some("text") => {
            Attachment::bytes("text/plain", text(block, &["source", "data"]).unwrap_or_default().as_bytes())
        }
        other => {
            options.note_foreign(format!("an attachment of the type `{}`", other.unwrap_or_default()));
            return None;
        }
    };
    Some(Attachment { name, ..found })
}

fn blocks_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => {
            let blocks = blocks.as_array().unwrap_or_default();
            blocks.iter().filter_map(|block| text(block, &["text"])).collect::<Vec<_>>().join("\n")
        }
    }
}
