//! Classes of failures.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Class of a failed attempt. Code decides by the class, never by the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The API key is missing, wrong, or lacks the permission.
    AuthError,
    /// The account's quota or credit is used up.
    QuotaExceeded,
    /// Too many requests or tokens; a later attempt may succeed.
    RateLimit,
    /// The provider refuses the request, or the model cannot serve it.
    ModelError,
    /// The server cannot be reached, the connection broke, or the server failed (5xx).
    NetworkError,
    /// A timeout passed.
    Timeout,
    /// The response is empty, truncated, or not in the expected format.
    InvalidResponse,
    /// The request does not fit into the model's context window.
    ContextLength,
    /// The provider's content filter refused the request.
    ContentFilter,
}

impl ErrorClass {
    /// All classes.
    pub const ALL: [Self; 9] = [
        Self::AuthError,
        Self::QuotaExceeded,
        Self::RateLimit,
        Self::ModelError,
        Self::NetworkError,
        Self::Timeout,
        Self::InvalidResponse,
        Self::ContextLength,
        Self::ContentFilter,
    ];

    /// The name in JSON, as in events and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthError => "auth_error",
            Self::QuotaExceeded => "quota_exceeded",
            Self::RateLimit => "rate_limit",
            Self::ModelError => "model_error",
            Self::NetworkError => "network_error",
            Self::Timeout => "timeout",
            Self::InvalidResponse => "invalid_response",
            Self::ContextLength => "context_length",
            Self::ContentFilter => "content_filter",
        }
    }

    /// A phrase for people, which begins an error message.
    pub const fn description(self) -> &'static str {
        match self {
            Self::AuthError => "unauthorized",
            Self::QuotaExceeded => "quota exceeded",
            Self::RateLimit => "rate limited",
            Self::ModelError => "model error",
            Self::NetworkError => "network error",
            Self::Timeout => "timed out",
            Self::InvalidResponse => "invalid response",
            Self::ContextLength => "too long for the model",
            Self::ContentFilter => "refused by a content filter",
        }
    }

    /// Whether the same target will fail until the user changes its key or account.
    pub const fn is_fatal(self) -> bool {
        matches!(self, Self::AuthError | Self::QuotaExceeded)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_displayed_by_its_name_in_json() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{class}\""));
        }
    }

    #[test]
    fn only_auth_and_quota_are_fatal() {
        let fatal: Vec<_> = ErrorClass::ALL.into_iter().filter(|class| class.is_fatal()).collect();
        assert_eq!(fatal, [ErrorClass::AuthError, ErrorClass::QuotaExceeded]);
    }
}
