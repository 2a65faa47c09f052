//! A request to a scripted model, and conditions on requests.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use reknit_protocol::Value;
use serde::Deserialize;

use super::ModelApi;
use crate::rules::Test;

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
    headers: HeaderMap,
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

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMessage {
    /// `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The text. Several text parts are joined by line breaks.
    pub content: String,
}

impl ReceivedRequest {
    /// Reads what all wire formats have at the same place. The messages are read by the wire format of the route.
    pub(super) fn read(
        route: RouteInfo,
        (body, messages): (Value, Vec<RequestMessage>),
        headers: &HeaderMap,
        nth: usize,
        since_start: Duration,
    ) -> Self {
        let RouteInfo { api, model, streaming } = route;
        let model = model.or_else(|| Some(body.get("model")?.as_str()?.to_owned()));
        let streaming = streaming.or_else(|| body.get("stream")?.as_bool()).unwrap_or(false);
        let model = model.unwrap_or_else(|| "scripted".to_owned());
        Self { nth, api, since_start, messages, headers: headers.clone(), body, matched: false, model, streaming }
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
        std::str::from_utf8(self.headers.get(name)?.as_bytes()).ok()
    }

    pub(super) fn wants_usage_in_stream(&self) -> bool {
        let wanted = self.body.get("stream_options").and_then(|options| options.get("include_usage"));
        wanted.and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Matches the requests that fulfil every condition.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestMatcher {
    purpose: Option<String>,
    says: Vec<String>,
    lacks: Vec<String>,
    nth: Option<usize>,
    last_role: Option<String>,
    #[serde(skip)]
    test: Option<Test<ReceivedRequest>>,
}

impl RequestMatcher {
    /// Matches every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requires that the system message begins with the line `purpose: X`.
    #[must_use]
    pub fn purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = Some(purpose.into());
        self
    }

    /// Requires that some message contains this text.
    #[must_use]
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.says.push(text.into());
        self
    }

    /// Requires that no message contains this text.
    #[must_use]
    pub fn lacks(mut self, text: impl Into<String>) -> Self {
        self.lacks.push(text.into());
        self
    }

    /// Requires that it is the n-th request to the server, from 1.
    #[must_use]
    pub fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Requires that the last message has this role: `user`, `assistant`.
    #[must_use]
    pub fn last_role(mut self, role: impl Into<String>) -> Self {
        self.last_role = Some(role.into());
        self
    }

    /// Requires that this test returns `true`.
    #[must_use]
    pub fn passes(mut self, test: impl Fn(&ReceivedRequest) -> bool + Send + Sync + 'static) -> Self {
        self.test = Some(Test(Arc::new(test)));
        self
    }

    pub(super) fn matches(&self, request: &ReceivedRequest) -> bool {
        let text = request.text();
        self.purpose.as_deref().is_none_or(|purpose| request.purpose() == Some(purpose))
            && self.says.iter().all(|part| text.contains(part))
            && !self.lacks.iter().any(|part| text.contains(part))
            && self.nth.is_none_or(|nth| request.nth == nth)
            && self.last_role.as_ref().is_none_or(|role| request.messages.last().is_some_and(|last| last.role == *role))
            && self.test.as_ref().is_none_or(|test| (test.0)(request))
    }
}
