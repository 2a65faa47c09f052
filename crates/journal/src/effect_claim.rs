//! An effect that is claimed, with its business key.

use crate::KeyClaim;

/// An effect to claim in the transaction that makes it due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectClaim {
    /// The effect.
    pub effect: String,
    /// Its business key, if it has one.
    pub key: Option<KeyClaim>,
    /// The current time, which the window of the key is compared with, in milliseconds since 1970.
    pub now_ms: i64,
}
