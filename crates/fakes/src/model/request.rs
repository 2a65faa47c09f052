//! A request to a scripted model.

use std::time::Duration;

use axum::http::HeaderMap;
use reknit_protocol::Value;

use super::ModelApi;

/// A request that a scripted model has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The number of the request, from 1.
    pub nth: usize,
    /// The wire format of the request.
    pub api: ModelApi,
    /// The messages, the system message first.
    pub messages: Vec<RequestMessage>,
    /// The whole body; its numbers keep their digits.
    pub body: Value,
    /// The time from the start of the server to the request, by tokio's clock.
    pub since_start: Duration,
    /// Whether a rule of the script matched.
    pub matched: bool,
    headers: Vec<(String, String)>,
    model: String,
    pub(super) streaming: bool,
}

/// What the path of a request determines.
pub(super) struct RouteInfo {
    pub(super) api: ModelApi,
    /// `None` if it is in the body.
    pub(super) model: Option<String>,
    /// `None` if it is in the body.
    pub(super) streaming: Option<bool>,
}

impl RouteInfo {
    /// A path that determines only the wire format.
    pub(super) fn new(api: ModelApi) -> Self {
        Self { api, model: None, streaming: None }
    }
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMessage {
    /// `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The text. Several text parts are joined by line breaks.
    pub content: String,
}

impl ReceivedRequest {
    pub(super) fn read(route: RouteInfo, body: Value, headers: &HeaderMap, nth: usize, since_start: Duration) -> Self {
        let RouteInfo { api, model, streaming } = route;
        let messages = api.messages(&body);
        let model = model.or_else(|| Some(body.get("model")?.as_str()?.to_owned()));
        let streaming = streaming.or_else(|| body.get("stream")?.as_bool()).unwrap_or(false);
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = headers.iter().map(header).collect();
        let model = model.unwrap_or_else(|| "scripted".to_owned());
        Self { nth, api, since_start, messages, headers, body, matched: false, model, streaming }
    }

    /// The text of all messages, joined by line breaks.
    pub fn text(&self) -> String {
        self.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The purpose of the request: `purpose: X` in the first line of the first system message.
    pub fn purpose(&self) -> Option<&str> {
        let system = self.messages.iter().find(|message| message.role == "system")?;
        system.content.lines().next()?.strip_prefix("purpose:").map(str::trim)
    }

    /// The model that the request names; `scripted` if it names none.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn wants_usage_in_stream(&self) -> bool {
        let wanted = self.body.get("stream_options").and_then(|options| options.get("include_usage"));
        wanted.and_then(Value::as_bool).unwrap_or(false)
    }
}
