//! How a call went, as far as a gate wants to know.

use crate::{Answer, ErrorClass, Failure};

/// How a call went, as far as a [`Gate`](crate::Gate) wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// There was an answer, be it that the call was refused.
    Answered,
    /// It is at its limit.
    Limited {
        /// How long it asks to be left alone.
        asked_ms: Option<u64>,
    },
    /// It broke, took too long, or said that it is broken.
    Failed,
    /// The call was given up before anybody could know.
    Unknown,
}

impl CallOutcome {
    /// How an attempt at a model went. A 4xx is an answer, whatever it is called.
    pub fn of_model(result: &Result<Answer, Failure>) -> Self {
        let Err(failure) = result else { return Self::Answered };
        let refused = failure.status.is_some_and(|status| (400..=499).contains(&status));
        match failure.class {
            ErrorClass::RateLimit => Self::Limited { asked_ms: failure.retry_after_ms },
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

    /// How an answer with this status went.
    pub fn of_status(status: u16, asked_ms: Option<u64>) -> Self {
        match status {
            429 => Self::Limited { asked_ms },
            500.. => Self::Failed,
            _ => Self::Answered,
        }
    }
}
