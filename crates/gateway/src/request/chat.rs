//! Requests of `chat/completions`.

use reknit_model_api::{
    Attachment, Effort, Message, ModelRequest, ResponseFormat, ToolCall, ToolChoice, ToolDefinition,
};
use reknit_protocol::{Number, Object, Value};

use super::RequestError;
use super::options::Options;
use crate::json::{at, list, text};

pub(super) fn read(options: &mut Options<'_>) -> Result<ModelRequest, RequestError> {
    let mut request = options.sampling()?;
    for (index, message) in options.list("messages")?.iter().enumerate() {
        let message = read_message(message, &request.messages, options);
        request.messages.push(message.map_err(|error| error.in_item("messages", index))?);
    }
    let limit = options.count("max_completion_tokens")?;
    if let Some(limit) = limit.or(options.count("max_tokens")?) {
        request.max_tokens = limit;
    }
    request.stop = options.words("stop")?;
    request.seed = options.get("seed").and_then(Value::as_number).and_then(Number::as_u64);
    request.effort = options.text("reasoning_effort")?.and_then(effort);
    request.parallel_tool_calls = options.flag("parallel_tool_calls")?;
    for tool in options.list("tools")? {
        match (text(tool, &["type"]), at(tool, &["function"])) {
            (Some("function"), Some(function)) => request.tools.push(definition(function, "parameters")?),
            _ => options.note_foreign_tool(tool),
        }
    }
    request.tool_choice = tool_choice(options, &["function", "name"])?;
    request.format = match options.get("response_format") {
        None => ResponseFormat::Text,
        Some(format) => response_format(format, at(format, &["json_schema"]), options),
    };
    if options.get("n").and_then(Value::as_number).and_then(Number::as_u64).is_some_and(|choices| choices != 1) {
        options.note_foreign("`n` other than 1".to_owned());
    }
    Ok(request)
}

/// `auto`, `none`, `required`, or an object with the name of a tool at this path.
pub(super) fn tool_choice(options: &mut Options<'_>, name: &[&str]) -> Result<ToolChoice, RequestError> {
    let Some(choice) = options.get("tool_choice") else { return Ok(ToolChoice::Auto) };
    match (choice.as_str(), text(choice, name)) {
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::None),
        (Some("required"), _) => Ok(ToolChoice::Required),
        (Some(_), _) => Err(RequestError::not_a("tool_choice", "`auto`, `none`, `required` or the name of a tool")),
        (None, Some(name)) => Ok(ToolChoice::Named(name.to_owned())),
        (None, None) => {
            options.note_foreign("`tool_choice` of another kind".to_owned());
            Ok(ToolChoice::Auto)
        }
    }
}

/// The format of the answer; a schema is described by an object of its own.
pub(super) fn response_format(format: &Value, schema: Option<&Value>, options: &mut Options<'_>) -> ResponseFormat {
    match (text(format, &["type"]), schema) {
        (Some("json_schema"), Some(described)) => ResponseFormat::Schema {
            name: text(described, &["name"]).unwrap_or("answer").to_owned(),
            schema: at(described, &["schema"]).cloned().unwrap_or_else(|| Value::Object(Object::new())),
        },
        (Some("json_object"), _) => ResponseFormat::Json,
        (Some("text") | None, _) => ResponseFormat::Text,
        (Some(other), _) => {
            options.note_foreign(format!("the response format `{other}`"));
            ResponseFormat::Text
        }
    }
}

/// A tool, with its schema under this key.
pub(super) fn definition(tool: &Value, schema: &str) -> Result<ToolDefinition, RequestError> {
    let Some(name) = text(tool, &["name"]) else { return Err(RequestError("a tool has no `name`".to_owned())) };
    Ok(ToolDefinition {
        name: name.to_owned(),
        description: text(tool, &["description"]).unwrap_or_default().to_owned(),
        schema: at(tool, &[schema]).cloned().unwrap_or_else(|| Value::Object(object! {"type": "object"})),
    })
}

/// How much the model should reason; words that we do not know are the most.
pub(super) fn effort(word: &str) -> Option<Effort> {
    Effort::ALL.iter().copied().find(|effort| effort.as_str() == word).or(Some(Effort::High))
}

fn read_message(message: &Value, earlier: &[Message], options: &mut Options<'_>) -> Result<Message, RequestError> {
    let (content, attachments) = content(at(message, &["content"]), options);
    Ok(match text(message, &["role"]) {
        Some("system" | "developer") => Message::system(content),
        Some("user") => Message::user(content).with_attachments(attachments),
        Some("assistant") => {
            let refusal = text(message, &["refusal"]).unwrap_or_default();
            let calls = list(message, &["tool_calls"]).iter().map(tool_call).collect();
            Message::assistant_with_calls(if content.is_empty() { refusal.to_owned() } else { content }, calls)
        }
        Some("tool") => {
            let call = text(message, &["tool_call_id"]).ok_or_else(|| RequestError::missing("tool_call_id"))?;
            Message::Tool {
                call: call.into(),
                name: name_of(call, earlier),
                text: content,
                is_error: false,
                attachments,
            }
        }
        Some(other) => return Err(RequestError(format!("there is no role `{other}`"))),
        None => return Err(RequestError::missing("role")),
    })
}

/// The name of the tool that an earlier call with this id is for.
pub(super) fn name_of(call: &str, earlier: &[Message]) -> String {
    let mut calls = earlier.iter().flat_map(Message::tool_calls);
    calls.find(|known| known.id.as_str() == call).map_or_else(String::new, |known| known.name.clone())
}

fn tool_call(call: &Value) -> ToolCall {
    let name = text(call, &["function", "name"]).unwrap_or_default();
    let arguments = text(call, &["function", "arguments"]).unwrap_or_default();
    ToolCall::new(text(call, &["id"]).unwrap_or_default(), name, arguments)
}

/// The text of a message, and what is attached to it.
fn content(content: Option<&Value>, options: &mut Options<'_>) -> (String, Vec<Attachment>) {
    let parts = match content {
        None => return (String::new(), Vec::new()),
        Some(Value::String(text)) => return (text.clone(), Vec::new()),
        Some(parts) => parts.as_array().unwrap_or_default(),
    };
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for part in parts {
        match text(part, &["type"]).unwrap_or_default() {
            "text" => texts.push(text(part, &["text"]).unwrap_or_default()),
            "refusal" => texts.push(text(part, &["refusal"]).unwrap_or_default()),
            "image_url" => attachments.extend(text(part, &["image_url", "url"]).map(|url| from_url(url, "image/*"))),
            "input_audio" => {
                let media_type = format!("audio/{}", text(part, &["input_audio", "format"]).unwrap_or("wav"));
                let data = text(part, &["input_audio", "data"]).unwrap_or_default();
                attachments.push(Attachment::base64(media_type, data));
            }
            "file" if at(part, &["file", "file_data"]).is_some() => {
                let data = text(part, &["file", "file_data"]).unwrap_or_default();
                let name = text(part, &["file", "filename"]).map(str::to_owned);
                attachments.push(Attachment { name, ..from_url(data, "application/pdf") });
            }
            other => options.note_foreign(format!("a part of the type `{other}`")),
        }
    }
    (texts.join("\n"), attachments)
}

/// An attachment at an address, or in a `data:` URL.
pub(super) fn from_url(url: &str, media_type: &str) -> Attachment {
    let data = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    match data {
        Some((media_type, bytes)) => Attachment::base64(media_type, bytes),
        None => Attachment::url(media_type, url),
    }
}
