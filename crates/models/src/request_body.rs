//! Construction of request bodies, shared by the wire formats.

use reknit_model_api::{
    Attachment, Effort, FormatUsed, Message, ModelRequest, Role, ToolCall, ToolCallId, ToolDefinition,
};
use reknit_protocol::{Object, Value};

use crate::attachments::address;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestBody {
    pub(crate) json: Object,
    pub(crate) format_used: FormatUsed,
    /// Fields of the request that are not sent because the target does not support them.
    pub(crate) omitted_options: Vec<&'static str>,
}

impl RequestBody {
    pub(crate) fn new(format_used: FormatUsed) -> Self {
        Self { json: Object::new(), format_used, omitted_options: Vec::new() }
    }

    pub(crate) fn insert(&mut self, field: &str, value: impl Into<Value>) {
        self.json.insert(field, value);
    }

    pub(crate) fn insert_some(&mut self, field: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.insert(field, value);
        }
    }

    /// Inserts the sampling options if the model supports them, else lists them as omitted.
    pub(crate) fn insert_sampling(&mut self, supported: bool, request: &ModelRequest) {
        let temperature = request.temperature.map(|temperature| temperature.to_number().into());
        self.insert_if("temperature", supported, "temperature", temperature);
        self.insert_if("top_p", supported, "top_p", request.top_p.map(|top_p| top_p.to_number().into()));
    }

    /// Inserts a field if the model supports it, else lists the option as omitted.
    pub(crate) fn insert_if(&mut self, field: &str, supported: bool, option: &'static str, value: Option<Value>) {
        match value {
            Some(value) if supported => self.insert(field, value),
            Some(_) => self.omit(option),
            None => {}
        }
    }

    pub(crate) fn omit_if(&mut self, option: &'static str, is_set: bool) {
        if is_set {
            self.omit(option);
        }
    }

    pub(crate) fn omit(&mut self, option: &'static str) {
        self.omitted_options.push(option);
    }
}

pub(crate) fn system_texts(request: &ModelRequest) -> impl Iterator<Item = &str> {
    request.messages.iter().filter(|message| message.role() == Role::System).map(Message::text)
}

pub(crate) fn metadata(request: &ModelRequest) -> Object {
    request.metadata.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect()
}

/// A part of a message, as `chat/completions` and its relatives have it.
pub(crate) fn text_part(text: &str) -> Value {
    object! {"type": "text", "text": text}
}

/// A text, unless it is empty, and parts after it.
pub(crate) fn text_and_parts(text: &str, parts: impl Iterator<Item = Value>) -> Value {
    Some(text).filter(|text| !text.is_empty()).map(text_part).into_iter().chain(parts).collect()
}

pub(crate) fn image_part(attachment: &Attachment) -> Value {
    object! {"type": "image_url", "image_url": object! {"url": address(attachment)}}
}

pub(crate) fn user_message(parts: Vec<Value>) -> Value {
    object! {"role": "user", "content": parts}
}

/// The text before the attachments of a result, where only a message of the user may have attachments.
pub(crate) fn attachments_note(call: &ToolCallId) -> String {
    format!("Attachments of the result of call {call}:")
}

pub(crate) fn function(declaration: Value) -> Value {
    object! {"type": "function", "function": declaration}
}

/// A call with its arguments as a text.
pub(crate) fn tool_call(call: &ToolCall) -> Value {
    let arguments = arguments(&call.arguments).to_string();
    let function = object! {"name": call.name.as_str(), "arguments": arguments};
    object! {"id": call.id.as_str(), "type": "function", "function": function}
}

/// The smallest budget for reasoning that Anthropic's models accept.
const MIN_REASONING_BUDGET: u32 = 1024;

/// The requested budget for reasoning, which is a part of `max_tokens`; none if that is too small.
pub(crate) fn reasoning_budget(tokens: u32, max_tokens: u32) -> Option<u32> {
    Some(tokens.max(MIN_REASONING_BUDGET)).filter(|tokens| *tokens < max_tokens)
}

/// The budget for reasoning with this effort; none if there is to be no reasoning, or if `max_tokens` is too small.
pub(crate) fn effort_budget(effort: Effort, max_tokens: u32) -> Option<u32> {
    let tokens = match effort {
        Effort::None => return None,
        Effort::Minimal => MIN_REASONING_BUDGET,
        Effort::Low => max_tokens / 4,
        Effort::Medium => max_tokens / 2,
        Effort::High => max_tokens / 4 * 3,
    };
    reasoning_budget(tokens, max_tokens)
}

/// The declaration of a tool; `schema_key` is the field for its schema.
pub(crate) fn tool_declaration(tool: &ToolDefinition, schema_key: &str) -> Value {
    Value::from([
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        (schema_key, tool.schema.clone()),
    ])
}

pub(crate) fn strings(texts: &[String]) -> Value {
    texts.iter().map(|text| Value::from(text.as_str())).collect()
}

/// The arguments of a call as an object. Many servers fail at anything else, so unreadable arguments are sent as the member
/// of an object, where the model can see them.
pub(crate) fn arguments(raw: &str) -> Object {
    match Value::parse(raw) {
        Ok(Value::Object(arguments)) => arguments,
        Ok(Value::Null) => Object::new(),
        _ if raw.trim().is_empty() => Object::new(),
        _ => Object::from([("unreadable_arguments", raw.into())]),
    }
}

/// The id of a call in letters, digits, `_` and `-`, which some servers demand; ids of other providers may contain more.
pub(crate) fn plain_id(id: &ToolCallId) -> String {
    let replace = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    id.as_str().chars().map(replace).collect()
}

/// The conversation as alternating turns of the user and the model, without system messages. Tool results are part of the
/// user's turns. `parts` gives the content of a message, by its index, and `content_key` is the field of a turn for it.
pub(crate) fn turns(
    messages: &[Message],
    model_role: &str,
    content_key: &str,
    parts: impl Fn(usize, &Message) -> Vec<Value>,
) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = match message {
            Message::System { .. } => continue,
            Message::User { .. } | Message::Tool { .. } => "user",
            Message::Assistant { .. } => model_role,
        };
        match turns.last_mut().filter(|turn| turn.0 == role) {
            Some(turn) => turn.1.extend(parts(index, message)),
            None => turns.push((role, parts(index, message))),
        }
    }
    // Servers refuse empty turns.
    let turns = turns.into_iter().filter(|(_, parts)| !parts.is_empty());
    turns.map(|(role, parts)| Value::from([("role", role.into()), (content_key, parts.into())])).collect()
}
