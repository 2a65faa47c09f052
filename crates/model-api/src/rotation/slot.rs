//! One position in the round of a rotation.

use serde::{Deserialize, Serialize};

use crate::TargetName;

/// One position in the round, with the state of its target for the current request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RotationSlot {
    pub(super) target: TargetName,
    /// The wait before the next attempt, if the last attempt asked for one and no wait has been made since.
    pub(super) due_wait_ms: Option<u64>,
    /// Attempts in the current round.
    pub(super) attempts: u32,
    /// The earliest time of the next attempt.
    pub(super) ready_at_ms: u64,
    /// The target refused this request, or its context window is known to be too small.
    pub(super) excluded: bool,
    /// The target refused a request in a way in which it will refuse the next one, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) refused: bool,
}

impl RotationSlot {
    pub(super) fn new(target: TargetName) -> Self {
        Self { target, due_wait_ms: None, attempts: 0, ready_at_ms: 0, excluded: false, refused: false }
    }

    /// The slot for the next request.
    pub(super) fn for_next_request(&self) -> Self {
        Self { excluded: self.refused, refused: self.refused, ..Self::new(self.target.clone()) }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
