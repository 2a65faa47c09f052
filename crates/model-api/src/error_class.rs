//! Classes of failures.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// Class of a failed attempt. Code decides by the class, never by the message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ErrorClass {
        /// The API key is missing, wrong, or lacks the permission.
        AuthError = "auth_error",
        /// The account's quota or credit is used up.
        QuotaExceeded = "quota_exceeded",
        /// Too many requests or tokens; a later attempt may succeed.
        RateLimit = "rate_limit",
        /// The provider refuses the request, or the model cannot serve it.
        ModelError = "model_error",
        /// The server cannot be reached, the connection broke, or the server failed (5xx).
        NetworkError = "network_error",
        Timeout = "timeout",
        /// The response is empty, truncated, or not in the expected format.
        InvalidResponse = "invalid_response",
        ContextLength = "context_length",
        ContentFilter = "content_filter",
    }
}

impl ErrorClass {
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
        let fatal: Vec<_> = ErrorClass::ALL.iter().copied().filter(|class| class.is_fatal()).collect();
        assert_eq!(fatal, [ErrorClass::AuthError, ErrorClass::QuotaExceeded]);
    }
}
