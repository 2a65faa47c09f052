//! Why one attempt gave no answer.

use reknit_protocol::RetryAfter;
use serde::{Deserialize, Serialize};

use crate::{ErrorClass, Usage};

/// Why one attempt gave no answer.
///
/// ```
/// use reknit_dialogue::{ErrorClass, Failure};
///
/// let failure = Failure::new(ErrorClass::RateLimit, "30 requests a minute").with_status(429).with_retry_after_ms(1_500);
/// assert_eq!(failure.to_string(), "rate limited (HTTP 429): 30 requests a minute; asks to wait 1.5 s");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Failure {
    /// What kind of failure.
    pub class: ErrorClass,
    /// The HTTP status, if it tells of the failure: none for an answer that began well.
    pub status: Option<u16>,
    /// What happened, in the provider's words where it had some; without secrets and of bounded length.
    pub message: String,
    /// How long the provider asks to be left alone.
    pub retry_after_ms: Option<u64>,
    /// Where it says so: the header, or the place in the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_from: Option<String>,
    /// What the attempt has used all the same; none if the provider did no work for it.
    pub usage: Option<Usage>,
    /// The words of the answer that had arrived before it broke off.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
}

impl Failure {
    /// A failure of which no more is known.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            status: None,
            message: message.into(),
            retry_after_ms: None,
            retry_after_from: None,
            usage: None,
            partial: String::new(),
        }
    }

    /// The same with the HTTP status it came with.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The same with the wait that the provider asks for.
    #[must_use]
    pub fn with_retry_after_ms(self, ms: u64) -> Self {
        Self { retry_after_ms: Some(ms), ..self }
    }

    /// The same with the wait that the provider asks for, and where it does.
    #[must_use]
    pub fn with_retry_after(self, asked: Option<RetryAfter>) -> Self {
        let (retry_after_ms, retry_after_from) = asked.map(|asked| (asked.ms, asked.origin)).unzip();
        Self { retry_after_ms, retry_after_from, ..self }
    }

    /// The same with what it has used.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// The same with the words that had arrived.
    #[must_use]
    pub fn with_partial(self, partial: impl Into<String>) -> Self {
        Self { partial: partial.into(), ..self }
    }

    /// Whether the same question will fail with the same target again, and may do with another: it refuses the request, cannot
    /// read so much, or does not talk about this.
    pub fn is_for_another(&self) -> bool {
        match self.class {
            ErrorClass::ContextLength | ErrorClass::ContentFilter => true,
            ErrorClass::ModelError => self.status.is_some_and(|status| (400..500).contains(&status)),
            ErrorClass::AuthError
            | ErrorClass::QuotaExceeded
            | ErrorClass::RateLimit
            | ErrorClass::NetworkError
            | ErrorClass::Timeout
            | ErrorClass::InvalidResponse => false,
        }
    }

    fn sentence(&self) -> String {
        let status = self.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        let colon = if self.message.is_empty() { "" } else { ": " };
        let wait = self.retry_after_ms.map(|ms| format!("; asks to wait {}", seconds(ms))).unwrap_or_default();
        format!("{}{status}{colon}{}{wait}", self.class.words(), self.message)
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
    fn a_failure_is_a_sentence_with_what_is_known_and_no_more() {
        let failure = Failure::new(ErrorClass::Timeout, "no first byte within 5 s");
        for (failure, expected) in [
            (failure.clone(), "timed out: no first byte within 5 s"),
            (Failure::new(ErrorClass::NetworkError, "").with_status(502), "network error (HTTP 502)"),
            (failure.with_retry_after_ms(60_000), "timed out: no first byte within 5 s; asks to wait 60 s"),
        ] {
            assert_eq!(failure.to_string(), expected);
        }
    }

    #[test]
    fn a_failure_comes_back_from_its_text() {
        let failure = Failure::new(ErrorClass::Timeout, "cut").with_usage(Usage::reported(1, 2));
        let text = serde_json::to_string(&failure).unwrap();
        insta::assert_snapshot!(text, @r#"{"class":"timeout","status":null,"message":"cut","retry_after_ms":null,"usage":{"input_tokens":1,"output_tokens":2,"source":"reported"}}"#);
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), failure);
    }
}
