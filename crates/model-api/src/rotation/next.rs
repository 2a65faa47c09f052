//! Decisions of a rotation.

use serde::{Deserialize, Serialize};

use crate::ErrorClass;

/// What to do after a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Ask [`Rotation::target`](crate::Rotation::target) at once.
    Ask,
    /// Wait, then ask it.
    Wait {
        /// Length of the wait.
        ms: u64,
    },
    /// Make no further attempt.
    GiveUp(GiveUpReason),
}

/// Why a rotation makes no further attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum GiveUpReason {
    /// As many attempts as the rules allow have failed.
    #[error("no answer after {attempts} attempt{}", if *attempts == 1 { "" } else { "s" })]
    AttemptsSpent {
        /// The number of attempts.
        attempts: u32,
    },
    /// A failure that another attempt cannot repair, and there is no other target.
    #[error("no further attempt after {0}")]
    Fatal(ErrorClass),
    /// The next attempt would begin after the deadline.
    #[error("the next attempt would begin after the deadline")]
    Deadline,
    /// The circuit breakers of all targets stayed open.
    #[error("the circuit breaker of every model is open")]
    BreakersOpen,
    /// The rotation has no targets.
    #[error("there is no model to ask")]
    NoTargets,
}
