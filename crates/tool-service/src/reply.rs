//! The HTTP response to one call.

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, ReplyBody, Retryable, ToolError, ToolReply, ToolResponse, Value};

/// Status and envelope of a response, and whether the idempotency store keeps it.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    body: String,
    /// Whole seconds, for the header `Retry-After`.
    retry_after: Option<u64>,
    /// Whether the call has had an effect, or that is unknown: then it must not run again under the same key. It may if the handler
    /// has said that the call had no effect, or refused it as one too many.
    pub(crate) is_kept: bool,
}

impl Reply {
    pub(crate) fn data(data: Value) -> Self {
        let body = ToolResponse::ok(data).to_value().to_string();
        Self { status: 200, body, retry_after: None, is_kept: true }
    }

    /// A failure with the status of its category.
    pub(crate) fn error(error: &ToolError) -> Self {
        Self::with_status(error.status(), error)
    }

    /// A failure with another status than that of its category.
    pub(crate) fn with_status(status: u16, error: &ToolError) -> Self {
        // Of too many requests, this one was not processed.
        let is_kept = error.category != Some(Category::RateLimit) && error.retryable != Retryable::Yes;
        let retry_after = error.details.get("retry_after").and_then(whole_seconds);
        Self { status, body: ToolResponse::fail(error.clone()).to_value().to_string(), retry_after, is_kept }
    }

    /// The service itself has failed. What the call has done is unknown, so `retryable` is left out.
    pub(crate) fn internal_error(message: &str) -> Self {
        Self::with_status(500, &ToolError::new("INTERNAL_ERROR", message, Category::ServiceError))
    }

    /// The handler was stopped at its time limit. What it has done until then is unknown, so `retryable` is left out.
    pub(crate) fn timed_out(limit: std::time::Duration) -> Self {
        let message = format!("the capability did not finish within {limit:?}");
        Self::error(&ToolError::new(codes::REQUEST_TIMEOUT, message, Category::ServiceError))
    }

    /// The reply to a call that did not come over HTTP.
    pub(crate) fn into_tool_reply(self) -> ToolReply {
        // The body was written as JSON.
        let body = Value::parse(&self.body).map_or(ReplyBody::Text(self.body), ReplyBody::Json);
        ToolReply {
            status: self.status,
            retry_after_ms: self.retry_after.map(|wait| wait.saturating_mul(1000)),
            body,
            job: None,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }
}

/// Reads `60`, `"60"` and `"60s"`; for other values there is no header.
fn whole_seconds(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.strip_suffix('s').unwrap_or(text).parse().ok(),
        _ => None,
    }
}

#[cfg(feature = "serve")]
impl axum::response::IntoResponse for Reply {
    fn into_response(self) -> axum::response::Response {
        use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
        use axum::http::{HeaderValue, StatusCode};

        let mut response = axum::response::Response::new(self.body.into());
        // Statuses come from the protocol's table and from constants; any other number is a bug in this crate.
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
