//! Wire format of Anthropic's `messages`. No I/O.

mod content_state;
mod family;
mod request;
mod response;

use reknit_model_api::{ErrorClass, ErrorNames};

pub(crate) use family::family;
pub(crate) use request::render;
pub(crate) use response::{Blocks, read_event, read_whole};

pub(crate) fn vertex_path(model: &str, streaming: crate::Streaming) -> String {
    let method = if streaming == crate::Streaming::On { "streamRawPredict" } else { "rawPredict" };
    format!("/models/{model}:{method}")
}

/// Format of the signature of a thinking block, which must be sent back.
const STATE_FORMAT: &str = "anthropic";
/// Format of a thinking block that the provider has encrypted.
const REDACTED_STATE_FORMAT: &str = "anthropic-hidden";

/// Error types. `invalid_request_error` is generic and left out.
pub(crate) const ERROR_CLASSES: ErrorNames = &[
    (ErrorClass::NetworkError, "api_error"),
    (ErrorClass::AuthError, "authentication_error permission_error"),
    (ErrorClass::QuotaExceeded, "billing_error"),
    (ErrorClass::ModelError, "not_found_error"),
    (ErrorClass::RateLimit, "overloaded_error rate_limit_error"),
    (ErrorClass::ContextLength, "request_too_large"),
    (ErrorClass::Timeout, "timeout_error"),
];
