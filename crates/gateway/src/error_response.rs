//! Errors in the form of each API.

use reknit_model_api::{Api, ErrorClass, ModelFailure};
use reknit_protocol::{Object, Value};

/// An error for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayError {
    pub status: u16,
    /// The kind of error by which clients decide.
    pub code: &'static str,
    pub message: String,
    pub retry_after_ms: Option<u64>,
}

impl GatewayError {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, code: "invalid_request", message: message.into(), retry_after_ms: None }
    }

    /// The error of a model that gave no answer, after all attempts.
    ///
    /// It has the status of the server, by which clients choose their class of error; the status here is for a failure without one.
    pub fn from_failure(failure: &ModelFailure) -> Self {
        let (status, code) = match failure.class {
            ErrorClass::AuthError => (401, "upstream_unauthorized"),
            ErrorClass::QuotaExceeded => (429, "upstream_quota_exceeded"),
            ErrorClass::RateLimit => (429, "rate_limit_exceeded"),
            ErrorClass::ModelError => (400, "model_error"),
            ErrorClass::NetworkError => (502, "upstream_error"),
            ErrorClass::Timeout => (504, "upstream_timeout"),
            ErrorClass::InvalidResponse => (502, "invalid_response"),
            ErrorClass::ContextLength => (400, "context_length_exceeded"),
            ErrorClass::ContentFilter => (400, "content_filter"),
        };
        let status = failure.status.filter(|status| (400..600).contains(status)).unwrap_or(status);
        Self { status, code, message: failure.to_string(), retry_after_ms: failure.retry_after_ms }
    }

    /// Whether the client should send the request again by itself. All attempts that can help were made here already, except
    /// those after a wait.
    pub fn should_retry(&self) -> bool {
        self.status == 429 && self.code != "upstream_quota_exceeded" || self.code == "rate_limit_exceeded"
    }

    pub fn body(&self, api: Api) -> Value {
        Value::Object(match api {
            Api::ChatCompletions | Api::Responses => object! {"error": self.openai()},
            Api::Messages => object! {
                "type": "error",
                "error": object! {"type": self.anthropic_type(), "message": self.message.as_str()},
            },
        })
    }

    fn openai(&self) -> Object {
        let kind = match self.status {
            _ if self.code == "upstream_quota_exceeded" => "insufficient_quota",
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        object! {"message": self.message.as_str(), "type": kind, "param": Value::Null, "code": self.code}
    }

    fn anthropic_type(&self) -> &'static str {
        match self.status {
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            504 => "timeout_error",
            529 => "overloaded_error",
            _ => "api_error",
        }
    }
}

/// The event that ends a stream with an error, after a part of the answer was passed on.
pub fn stream_error(api: Api, error: &GatewayError) -> Vec<u8> {
    match api {
        Api::ChatCompletions => format!("data: {}\n\n", error.body(api)),
        Api::Messages => format!("event: error\ndata: {}\n\n", error.body(api)),
        Api::Responses => {
            let event = object! {
                "type": "error", "code": error.code, "message": error.message.as_str(), "param": Value::Null,
            };
            format!("event: error\ndata: {event}\n\n")
        }
    }
    .into_bytes()
}
