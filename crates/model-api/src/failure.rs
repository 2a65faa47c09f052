//! Failed attempts.

use serde::{Deserialize, Serialize};

use crate::{ErrorClass, Usage};

/// Why an attempt gave no answer.
///
/// ```
/// use reknit_model_api::{ErrorClass, ModelFailure};
///
/// let failure = ModelFailure::new(ErrorClass::RateLimit, "30 requests a minute").with_status(429).with_retry_after_ms(1_500);
/// assert_eq!(failure.to_string(), "rate limited (HTTP 429): 30 requests a minute; asks to wait 1.5 s");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", self.describe())]
pub struct ModelFailure {
    pub class: ErrorClass,
    /// The HTTP status, if it reports the failure; none for a failure inside a response with status 200.
    pub status: Option<u16>,
    /// The provider's message, else ours; without secrets and of bounded length.
    pub message: String,
    pub retry_after_ms: Option<u64>,
    /// The header, or the field of the body, that states the wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_from: Option<String>,
    /// How long the driver asks this target no more, if its circuit breaker cools down after this failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cool_down_ms: Option<u64>,
    /// Tokens that the provider may bill; none if it did no work.
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
}

impl ModelFailure {
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            status: None,
            message: message.into(),
            retry_after_ms: None,
            retry_after_from: None,
            cool_down_ms: None,
            usage: None,
            request_id: None,
            partial: String::new(),
        }
    }

    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    #[must_use]
    pub fn with_retry_after_ms(self, ms: u64) -> Self {
        Self { retry_after_ms: Some(ms), ..self }
    }

    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Whether this target will refuse the same request again while another may serve it: a refused request, a context window
    /// that is too small, or a content filter.
    pub fn is_target_specific(&self) -> bool {
        match self.class {
            ErrorClass::ContextLength | ErrorClass::ContentFilter => true,
            ErrorClass::ModelError => self.status.is_some_and(|status| (400..600).contains(&status)),
            _ => false,
        }
    }

    /// Whether the provider refused the request in a way in which it will refuse the next one of the same conversation, too: the model does not
    /// exist, the request is invalid for it, or a content filter blocks it. A window that is too small is none: the next request may be shorter.
    pub fn is_refusal(&self) -> bool {
        matches!(self.class, ErrorClass::ModelError | ErrorClass::ContentFilter)
            && self.status.is_some_and(|status| (400..500).contains(&status))
    }

    fn describe(&self) -> String {
        let status = self.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        let colon = if self.message.is_empty() { "" } else { ": " };
        let wait = self.retry_after_ms.map(|ms| format!("; asks to wait {}", seconds(ms))).unwrap_or_default();
        format!("{}{status}{colon}{}{wait}", self.class.description(), self.message)
    }
}

/// `2 s`, `1.5 s`, `0.25 s`.
fn seconds(ms: u64) -> String {
    let fraction = format!("{:03}", ms % 1000);
    match fraction.trim_end_matches('0') {
        "" => format!("{} s", ms / 1000),
        rest => format!("{}.{rest} s", ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_displayed_with_the_details_it_has() {
        let failure = ModelFailure::new(ErrorClass::Timeout, "no first byte within 5 s");
        for (failure, expected) in [
            (failure.clone(), "timed out: no first byte within 5 s"),
            (ModelFailure::new(ErrorClass::NetworkError, "").with_status(502), "network error (HTTP 502)"),
            (failure.with_retry_after_ms(60_000), "timed out: no first byte within 5 s; asks to wait 60 s"),
        ] {
            assert_eq!(failure.to_string(), expected);
        }
    }

    #[test]
    fn a_refused_request_is_specific_to_the_target_whatever_its_status() {
        for (class, status, expected) in [
            (ErrorClass::ModelError, Some(400), true),
            (ErrorClass::ModelError, Some(500), true),
            (ErrorClass::ModelError, None, false),
            (ErrorClass::ContextLength, None, true),
            (ErrorClass::NetworkError, Some(500), false),
        ] {
            let failure = ModelFailure { status, ..ModelFailure::new(class, "no") };
            assert_eq!(failure.is_target_specific(), expected, "{class:?} {status:?}");
        }
    }

    #[test]
    fn a_refusal_has_the_status_of_a_client_error() {
        for (class, status, expected) in [
            (ErrorClass::ModelError, Some(404), true),
            (ErrorClass::ContentFilter, Some(400), true),
            (ErrorClass::ModelError, Some(500), false),
            (ErrorClass::ModelError, None, false),
            // The answer of a model that refuses: the next turn may be harmless.
            (ErrorClass::ContentFilter, None, false),
            (ErrorClass::ContextLength, Some(400), false),
            (ErrorClass::RateLimit, Some(429), false),
        ] {
            let failure = ModelFailure { status, ..ModelFailure::new(class, "no") };
            assert_eq!(failure.is_refusal(), expected, "{class:?} {status:?}");
        }
    }

    #[test]
    fn a_failure_survives_serialization() {
        let failure = ModelFailure::new(ErrorClass::Timeout, "cut").with_usage(Usage::reported(1, 2));
        let text = serde_json::to_string(&failure).unwrap();
        insta::assert_snapshot!(text, @r#"{"class":"timeout","status":null,"message":"cut","retry_after_ms":null,"usage":{"input_tokens":1,"output_tokens":2,"source":"reported"}}"#);
        assert_eq!(serde_json::from_str::<ModelFailure>(&text).unwrap(), failure);
    }
}
