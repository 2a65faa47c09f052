//! One answer on its way to the wire.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, ToolError, ToolResponse, Value};

/// An answer: status, envelope, and whether a second call under the same key gets it again.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    body: String,
    /// Whole seconds, for callers that read headers only.
    retry_after: Option<u64>,
    pub(crate) memory: Memory,
}

/// What a key remembers of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The call has had its effect, or nobody knows: the same key never runs it again.
    Keep,
    /// The call said that it had none: the same key may run it again.
    Forget,
}

impl Reply {
    /// A success.
    pub(crate) fn data(data: Value) -> Self {
        let body = ToolResponse::ok(data).to_value().to_string();
        Self { status: 200, body, retry_after: None, memory: Memory::Keep }
    }

    /// A failure under the status of its category.
    pub(crate) fn error(error: &ToolError) -> Self {
        Self::refusal(error.status(), error)
    }

    /// A failure under a status of its own.
    pub(crate) fn refusal(status: u16, error: &ToolError) -> Self {
        let memory = match error.retryable {
            Retryable::Yes => Memory::Forget,
            Retryable::No | Retryable::Unsaid => Memory::Keep,
        };
        let retry_after = error.details.get("retry_after").and_then(whole_seconds);
        Self { status, body: ToolResponse::fail(error.clone()).to_value().to_string(), retry_after, memory }
    }

    /// The service itself is at fault, and what the call has done is not known: it does not say `retryable`.
    pub(crate) fn broken(message: &str) -> Self {
        Self::refusal(500, &ToolError::new("INTERNAL_ERROR", message, Category::ServiceError))
    }

    /// The handler was stopped at its limit; what it has done until then is not known.
    pub(crate) fn overdue(limit: std::time::Duration) -> Self {
        let message = format!("the capability did not finish within {limit:?}");
        Self::error(&ToolError::new(codes::REQUEST_TIMEOUT, message, Category::ServiceError))
    }

    /// How much memory it takes, roughly.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }
}

/// `60`, `"60"` and `"60s"`; anything else is for those who read the body.
fn whole_seconds(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.strip_suffix('s').unwrap_or(text).parse().ok(),
        _ => None,
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        // Statuses come from the protocol's table and from constants; another number would be a fault of ours.
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
