//! What the model was asked.

use std::time::Duration;

use axum::http::HeaderMap;
use reknit_protocol::Value;

use super::Api;

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// Which request this is, from 1.
    pub nth: usize,
    /// The wire format it came in.
    pub api: Api,
    /// The messages.
    pub messages: Vec<Message>,
    /// The whole body, digits as written.
    pub body: Value,
    /// When it came, from the start of the server, by tokio's clock.
    pub after: Duration,
    /// Whether the script had a reply.
    pub matched: bool,
    headers: Vec<(String, String)>,
    model: String,
    streaming: bool,
}

/// What the path of a request says.
pub(super) struct Asked {
    pub(super) api: Api,
    /// Where it is not in the body.
    pub(super) model: Option<String>,
    /// Where it is not in the body.
    pub(super) streaming: Option<bool>,
}

impl Asked {
    /// The path says nothing but the format.
    pub(super) fn at(api: Api) -> Self {
        Self { api, model: None, streaming: None }
    }
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
    pub(super) fn read(asked: Asked, body: Value, headers: &HeaderMap, nth: usize, after: Duration) -> Self {
        let Asked { api, model, streaming } = asked;
        let messages = api.messages(&body);
        let model = model.or_else(|| Some(body.get("model")?.as_str()?.to_owned()));
        let streaming = streaming.or_else(|| body.get("stream")?.as_bool()).unwrap_or(false);
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = headers.iter().map(header).collect();
        let model = model.unwrap_or_else(|| "scripted".to_owned());
        Self { nth, api, after, messages, headers, body, matched: false, model, streaming }
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
        &self.model
    }

    /// A header; names are in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_streaming(&self) -> bool {
        self.streaming
    }

    pub(super) fn wants_usage_in_stream(&self) -> bool {
        let wanted = self.body.get("stream_options").and_then(|options| options.get("include_usage"));
        wanted.and_then(Value::as_bool).unwrap_or(false)
    }
}
