//! What a rotation says after a failure.

use serde::{Deserialize, Serialize};

use crate::ErrorClass;

/// What to do after a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Ask the target that is due now, at once.
    Ask,
    /// Wait so long, then ask it.
    Wait {
        /// How long.
        ms: u64,
    },
    /// Ask nobody any more.
    GiveUp(GiveUp),
}

/// Why nobody is asked any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum GiveUp {
    /// As many attempts as the rules allow have failed.
    #[error("no answer after {attempts} attempt{}", if *attempts == 1 { "" } else { "s" })]
    AttemptsSpent {
        /// How many.
        attempts: u32,
    },
    /// A failure after which asking again is pointless, and there is nobody else.
    #[error("no further attempt after {0}")]
    Fatal(ErrorClass),
    /// The next attempt would begin too late.
    #[error("the next attempt would begin after the deadline")]
    Deadline,
    /// Every target was resting, as often as it was looked at.
    #[error("every model is resting")]
    Resting,
    /// There is nobody to ask.
    #[error("there is no model to ask")]
    NoTargets,
}
