//! What the model was asked.

use axum::http::HeaderMap;
use reknit_protocol::Value;

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// Which request this is, from 1.
    pub nth: usize,
    /// The messages.
    pub messages: Vec<Message>,
    /// The whole body, digits as written.
    pub body: Value,
    /// Whether the script had a reply.
    pub matched: bool,
    headers: Vec<(String, String)>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The text; parts that are texts are joined by line breaks.
    pub content: String,
}

impl ModelRequest {
    pub(super) fn read(body: Value, headers: &HeaderMap, nth: usize) -> Self {
        let messages = body.get("messages").and_then(Value::as_array).unwrap_or_default();
        let messages = messages.iter().map(Message::read).collect();
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        Self { nth, messages, headers: headers.iter().map(header).collect(), body, matched: false }
    }

    /// All messages, one after the other.
    pub fn text(&self) -> String {
        self.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// What the request is for: `purpose: X` in the first line of the first system message.
    pub fn purpose(&self) -> Option<&str> {
        let system = self.messages.iter().find(|message| message.role == "system")?;
        system.content.lines().next()?.strip_prefix("purpose:").map(str::trim)
    }

    /// The model that was asked for.
    pub fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or("scripted")
    }

    /// A header; names are in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_streaming(&self) -> bool {
        self.body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn wants_usage_in_stream(&self) -> bool {
        let wanted = self.body.get("stream_options").and_then(|options| options.get("include_usage"));
        wanted.and_then(Value::as_bool).unwrap_or(false)
    }
}

impl Message {
    fn read(message: &Value) -> Self {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
        let content = match message.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        };
        Self { role, content }
    }
}
