//! Outcome of a call, as a circuit breaker sees it.

use crate::{ErrorClass, ModelFailure};

/// Outcome of a call, as a [`Breaker`](crate::Breaker) sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The service answered, even if it refused the request.
    Answered,
    /// The service refused the call for its rate limit.
    RateLimited {
        /// The wait that the service asks for.
        retry_after_ms: Option<u64>,
    },
    /// The call broke, timed out or ended in a 5xx.
    Failed,
    /// The caller gave the call up before its outcome was known.
    Cancelled,
}

impl CallOutcome {
    /// The outcome of an attempt at a model. A 4xx is an answer, whatever its error class.
    pub fn from_model_result<T>(result: &Result<T, ModelFailure>) -> Self {
        let Err(failure) = result else { return Self::Answered };
        let refused = failure.status.is_some_and(|status| (400..=499).contains(&status));
        match failure.class {
            ErrorClass::RateLimit => Self::RateLimited { retry_after_ms: failure.retry_after_ms },
            ErrorClass::NetworkError | ErrorClass::Timeout | ErrorClass::InvalidResponse if !refused => Self::Failed,
            ErrorClass::NetworkError
            | ErrorClass::Timeout
            | ErrorClass::InvalidResponse
            | ErrorClass::AuthError
            | ErrorClass::QuotaExceeded
            | ErrorClass::ModelError
            | ErrorClass::ContextLength
            | ErrorClass::ContentFilter => Self::Answered,
        }
    }

    /// The outcome of a call that was answered with this HTTP status.
    pub fn from_status(status: u16, retry_after_ms: Option<u64>) -> Self {
        match status {
            429 => Self::RateLimited { retry_after_ms },
            500.. => Self::Failed,
            _ => Self::Answered,
        }
    }
}
