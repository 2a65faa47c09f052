//! The reaction to a failed attempt. The rotation decides; this module describes the decision for records.

use reknit_model_api::{GiveUpReason, ModelFailure, Next};
use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

/// The reaction to a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryDirective {
    pub action: Action,
    /// The wait before the next attempt, if there is one.
    pub backoff_ms: Option<u64>,
    /// The failure, for the log.
    pub log_message: String,
    /// The notice for the next model. Faults of a provider produce none.
    pub system_message: Option<String>,
    /// The response headers that requested the wait.
    pub sources: Vec<String>,
}

word_enum! {
    /// The action after a failed attempt.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Action {
        /// The next target is asked; this one may be asked again.
        Retry = "retry",
        /// The next target is asked; this one cannot answer the question.
        SkipProvider = "skip-provider",
        Abort = "abort",
    }
}

impl RetryDirective {
    pub(crate) fn new(failure: &ModelFailure, next: &Next, system_message: Option<String>) -> Self {
        let action = match next {
            Next::GiveUp(GiveUpReason::Fatal(class)) if class.is_fatal() => Action::Abort,
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

/// The action for a target, by its failure alone.
fn action(failure: &ModelFailure) -> Action {
    if failure.class.is_fatal() || failure.is_target_specific() { Action::SkipProvider } else { Action::Retry }
}

#[cfg(test)]
mod tests {
    use reknit_model_api::ErrorClass;

    use super::*;

    #[test]
    fn every_error_class_has_an_action() {
        use {Action::*, ErrorClass as E};
        for (class, status, expected) in [
            (E::RateLimit, Some(429), Retry),
            (E::ModelError, Some(500), SkipProvider),
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
            let failure = ModelFailure { status, ..ModelFailure::new(class, "") };
            assert_eq!(RetryDirective::new(&failure, &Next::Ask, None).action, expected, "{class}");
        }
        let fatal = Next::GiveUp(GiveUpReason::Fatal(E::AuthError));
        let failure = ModelFailure::new(E::AuthError, "no such key");
        assert_eq!(RetryDirective::new(&failure, &fatal, None).action, Abort);
    }

    #[test]
    fn a_directive_to_wait_names_the_duration_and_its_source() {
        let mut failure = ModelFailure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(7_000);
        failure.retry_after_from = Some("retry-after".to_owned());
        let directive = RetryDirective::new(&failure, &Next::Wait { ms: 9_000 }, None);
        assert_eq!((directive.backoff_ms, directive.sources), (Some(9_000), vec!["retry-after".to_owned()]));
    }
}
