//! One target in the round.

use serde::{Deserialize, Serialize};

use crate::TargetName;

/// One target in the round, and what is known of it within this question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) target: TargetName,
    /// The wait it is due, if the last thing it said was that it is at its limit, and nobody has waited since.
    pub(super) limited_ms: Option<u64>,
    /// How often it was asked in this round.
    pub(super) tries: u32,
    /// There is no use in asking it before.
    pub(super) ready_ms: u64,
    /// Whether the question is for it.
    pub(super) fit: Fit,
}

/// Whether a question is for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fit {
    /// As far as is known.
    Yes,
    /// It has refused it, or it is known to be too small.
    No,
}

impl Seat {
    pub(super) fn new(target: TargetName) -> Self {
        Self { target, limited_ms: None, tries: 0, ready_ms: 0, fit: Fit::Yes }
    }
}
