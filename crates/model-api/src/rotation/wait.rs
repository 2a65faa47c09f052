//! Why a rotation waits, and what states the length of the wait.

use std::fmt;
use std::str::FromStr;

use reknit_protocol::{RetryAfter, word_enum};
use serde::{Deserialize, Serialize};

use crate::{ErrorClass, ModelFailure};

/// Why a rotation waits, and what states the length of the wait.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WaitCause {
    pub reason: ModelWaitReason,
    pub source: WaitSource,
}

word_enum! {
    /// What is waited for before a model is asked again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ModelWaitReason {
        /// Every target is at its rate limit.
        RateLimit = "rate_limit",
        /// The circuit breaker of every target is open.
        BreakerOpen = "breaker_open",
        /// The target failed, and a pause may help.
        #[default]
        Failure = "failure",
    }
}

/// What states the length of a wait. It is displayed and stored as `header retry-after`, `body error.retry_after_ms`,
/// `backoff` or `cool-down`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum WaitSource {
    /// A header of the provider's response.
    Header(String),
    /// A field in the body of the provider's response.
    Body(String),
    /// The rotation: a second for each attempt.
    #[default]
    Backoff,
    /// The target's circuit breaker, which all callers share: it is open, or it cools down after a rate limit.
    CoolDown,
}

/// Why a target was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedBy {
    /// Its circuit breaker is open after failures, or another caller probes it.
    #[default]
    OpenBreaker,
    /// It cools down, because its provider limits the rate or asks for a wait.
    CoolDown,
}

impl WaitCause {
    pub(super) fn of_failure(failure: &ModelFailure) -> Self {
        let source = match (&failure.retry_after_from, failure.retry_after_ms) {
            (Some(origin), _) if !RetryAfter::is_header(origin) => WaitSource::Body(origin.clone()),
            (Some(origin), _) => WaitSource::Header(origin.clone()),
            (None, Some(_)) => WaitSource::Header("retry-after".to_owned()),
            (None, None) => WaitSource::Backoff,
        };
        Self { reason: reason_of(failure.class), source }
    }

    pub(super) fn of_cool_down(class: ErrorClass) -> Self {
        Self { reason: reason_of(class), source: WaitSource::CoolDown }
    }

    pub(super) fn of_blocked(by: BlockedBy) -> Self {
        let reason = match by {
            BlockedBy::OpenBreaker => ModelWaitReason::BreakerOpen,
            BlockedBy::CoolDown => ModelWaitReason::RateLimit,
        };
        Self { reason, source: WaitSource::CoolDown }
    }
}

fn reason_of(class: ErrorClass) -> ModelWaitReason {
    if class == ErrorClass::RateLimit { ModelWaitReason::RateLimit } else { ModelWaitReason::Failure }
}

impl fmt::Display for WaitCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} by {}", self.reason, self.source)
    }
}

impl fmt::Display for WaitSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(out, "header {name}"),
            Self::Body(field) => write!(out, "body {field}"),
            Self::Backoff => out.write_str("backoff"),
            Self::CoolDown => out.write_str("cool-down"),
        }
    }
}

/// A stored text that names no source of a wait.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no source of a wait")]
pub struct WaitSourceError(String);

impl FromStr for WaitSource {
    type Err = WaitSourceError;

    fn from_str(text: &str) -> Result<Self, WaitSourceError> {
        match text.split_once(' ') {
            Some(("header", name)) => Ok(Self::Header(name.to_owned())),
            Some(("body", field)) => Ok(Self::Body(field.to_owned())),
            None if text == "backoff" => Ok(Self::Backoff),
            None if text == "cool-down" => Ok(Self::CoolDown),
            _ => Err(WaitSourceError(text.to_owned())),
        }
    }
}

impl From<WaitSource> for String {
    fn from(source: WaitSource) -> Self {
        source.to_string()
    }
}

impl TryFrom<String> for WaitSource {
    type Error = WaitSourceError;

    fn try_from(text: String) -> Result<Self, WaitSourceError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_stored_as_it_is_displayed() {
        for text in ["header retry-after", "body error.retry_after_ms", "backoff", "cool-down"] {
            assert_eq!(text.parse::<WaitSource>().unwrap().to_string(), text);
        }
        assert!("elsewhere".parse::<WaitSource>().is_err());
    }

    #[test]
    fn the_source_of_a_stated_wait_is_its_header_or_its_field() {
        let failure = ModelFailure::new(ErrorClass::RateLimit, "slow down");
        let stated = |origin: &str| ModelFailure {
            retry_after_from: Some(origin.to_owned()),
            ..failure.clone().with_retry_after_ms(1)
        };
        for (failure, expected) in [
            (stated("x-ratelimit-reset"), "header x-ratelimit-reset"),
            (stated("error.retry_after"), "body error.retry_after"),
            (failure.clone().with_retry_after_ms(1), "header retry-after"),
            (failure.clone(), "backoff"),
        ] {
            assert_eq!(WaitCause::of_failure(&failure).source.to_string(), expected);
        }
    }
}
