//! Construction of request bodies, shared by the wire formats.

use reknit_model_api::{FormatUsed, Message, ToolCallId, ToolDefinition};
use reknit_protocol::{Object, Value};

/// Body of a request in a wire format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestBody {
    /// The JSON to send.
    pub(crate) json: Object,
    /// The response format that it asks for.
    pub(crate) format_used: FormatUsed,
    /// Fields of the request that are not sent because the target does not support them.
    pub(crate) omitted_options: Vec<&'static str>,
}

impl RequestBody {
    /// An empty body that will ask for this response format.
    pub(crate) fn new(format_used: FormatUsed) -> Self {
        Self { json: Object::new(), format_used, omitted_options: Vec::new() }
    }

    /// Inserts a field.
    pub(crate) fn insert(&mut self, field: &str, value: impl Into<Value>) {
        self.json.insert(field, value);
    }

    /// Inserts a field if there is a value.
    pub(crate) fn insert_some(&mut self, field: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.insert(field, value);
        }
    }

    /// Inserts a field if the model supports it, else lists the option as omitted.
    pub(crate) fn insert_if(&mut self, field: &str, supported: bool, option: &'static str, value: Option<Value>) {
        match value {
            Some(value) if supported => self.insert(field, value),
            Some(_) => self.omit(option),
            None => {}
        }
    }

    /// Lists an option as omitted if the request has it.
    pub(crate) fn omit_if(&mut self, option: &'static str, is_set: bool) {
        if is_set {
            self.omit(option);
        }
    }

    /// Lists an option as omitted.
    pub(crate) fn omit(&mut self, option: &'static str) {
        self.omitted_options.push(option);
    }
}

/// The declaration of a tool; `schema_key` is the field for its schema.
pub(crate) fn tool_declaration(tool: &ToolDefinition, schema_key: &str) -> Value {
    Value::from([
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        (schema_key, tool.schema.clone()),
    ])
}

/// A list of strings.
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
