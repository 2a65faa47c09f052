//! What is done about a failed attempt. The rotation decides; this says it in words that can be recorded.

use reknit_dialogue::{Failure, GiveUp, Next};
use serde::{Deserialize, Serialize};

/// What is done about a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// What is done.
    pub action: Action,
    /// How long everybody is left alone first.
    pub backoff_ms: Option<u64>,
    /// What happened, for the log.
    pub log_message: String,
    /// What the next model is told about it. Faults of a provider are none of its business.
    pub system_message: Option<String>,
    /// Where the wait is asked for.
    pub sources: Vec<String>,
}

/// What is done about a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The next target is asked; this one may be asked again.
    Retry,
    /// The next target is asked; this one cannot serve the question.
    SkipProvider,
    /// Nobody is asked any more.
    Abort,
}

impl Action {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::SkipProvider => "skip-provider",
            Self::Abort => "abort",
        }
    }
}

impl Directive {
    pub(super) fn new(failure: &Failure, next: &Next, system_message: Option<String>) -> Self {
        let action = match next {
            Next::GiveUp(GiveUp::Fatal(class)) if class.fatal() => Action::Abort,
            _ => action(failure),
        };
        let backoff_ms = match next {
            Next::Wait { ms } => Some(*ms),
            _ => None,
        };
        let sources = failure.retry_after_from.iter().cloned().collect();
        Self { action, backoff_ms, log_message: failure.to_string(), system_message, sources }
    }
}

/// What follows for the target that failed. A provider that says nothing about it is judged by the failure alone.
fn action(failure: &Failure) -> Action {
    if failure.class.fatal() || failure.is_for_another() { Action::SkipProvider } else { Action::Retry }
}

#[cfg(test)]
mod tests {
    use reknit_dialogue::ErrorClass;

    use super::*;

    #[test]
    fn every_class_has_its_action_without_a_word_from_the_provider() {
        use {Action::*, ErrorClass as E};
        for (class, status, expected) in [
            (E::RateLimit, Some(429), Retry),
            (E::ModelError, Some(500), Retry),
            (E::ModelError, None, Retry),
            (E::ModelError, Some(404), SkipProvider),
            (E::NetworkError, Some(502), Retry),
            (E::Timeout, None, Retry),
            (E::InvalidResponse, None, Retry),
            (E::ContextLength, Some(400), SkipProvider),
            (E::ContentFilter, None, SkipProvider),
            (E::AuthError, Some(401), SkipProvider),
            (E::QuotaExceeded, Some(402), SkipProvider),
        ] {
            let failure = Failure { status, ..Failure::new(class, "") };
            assert_eq!(Directive::new(&failure, &Next::Ask, None).action, expected, "{class}");
        }
        let fatal = Next::GiveUp(GiveUp::Fatal(E::AuthError));
        let failure = Failure::new(E::AuthError, "no such key");
        assert_eq!(Directive::new(&failure, &fatal, None).action, Abort);
    }

    #[test]
    fn a_wait_says_how_long_and_who_asked_for_it() {
        let mut failure = Failure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(7_000);
        failure.retry_after_from = Some("retry-after".to_owned());
        let directive = Directive::new(&failure, &Next::Wait { ms: 9_000 }, None);
        assert_eq!((directive.backoff_ms, directive.sources), (Some(9_000), vec!["retry-after".to_owned()]));
    }
}
