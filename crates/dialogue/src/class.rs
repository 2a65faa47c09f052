//! The kinds of failure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of failure an attempt met. Whoever decides what comes next reads this, never the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The key is missing, wrong, or not allowed to do this.
    AuthError,
    /// The account has nothing left to spend.
    QuotaExceeded,
    /// Too much at once; later it will do.
    RateLimit,
    /// The provider refuses the request, or this model cannot serve it.
    ModelError,
    /// The server could not be reached, broke off, or is broken.
    NetworkError,
    /// Something took longer than its limit.
    Timeout,
    /// An answer came that is none: empty, cut, or not in the agreed form.
    InvalidResponse,
    /// The question is longer than this model can read.
    ContextLength,
    /// The provider will not talk about this.
    ContentFilter,
}

impl ErrorClass {
    /// Every class there is.
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

    /// The word on the wire.
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

    /// The words for people, the start of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AuthError => "not allowed",
            Self::QuotaExceeded => "quota exceeded",
            Self::RateLimit => "rate limited",
            Self::ModelError => "model error",
            Self::NetworkError => "network error",
            Self::Timeout => "timed out",
            Self::InvalidResponse => "invalid response",
            Self::ContextLength => "too long for the model",
            Self::ContentFilter => "refused for its content",
        }
    }

    /// Whether another attempt, on any target, is pointless unless a setting says otherwise.
    pub const fn fatal(self) -> bool {
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
    fn the_word_in_messages_is_the_word_in_json() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{class}\""));
        }
    }

    #[test]
    fn only_auth_and_quota_are_fatal() {
        let fatal: Vec<_> = ErrorClass::ALL.into_iter().filter(|class| class.fatal()).collect();
        assert_eq!(fatal, [ErrorClass::AuthError, ErrorClass::QuotaExceeded]);
    }
}
