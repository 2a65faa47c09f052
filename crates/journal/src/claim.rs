//! Claims of effects, and business keys: which call does a deed, and its receipt.

use reknit_protocol::RunId;

/// What [`Journal::claim`](crate::Journal::claim) found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The effect had no claim: the caller may perform it.
    New,
    /// The effect was claimed before, so it may have been performed already. The claim is permanent.
    AlreadyClaimed,
}

/// An effect to claim in the transaction that makes it due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectClaim {
    pub effect: String,
    pub key: Option<KeyClaim>,
    /// The current time, which the window of the key is compared with, in milliseconds since 1970.
    pub now_ms: i64,
}

/// The business key of a call, and the step that makes the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyClaim {
    /// The key: the same for all calls of one deed.
    pub key: String,
    /// The capability, for lists: `shop/refund`.
    pub capability: String,
    /// The values that identify the deed, for lists: one JSON object.
    pub values: String,
    /// How long after the deed an equal call is the same deed, in milliseconds.
    pub window_ms: u64,
    /// The step of the run that makes the call.
    pub step: String,
}

/// A business key in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    pub claim: KeyClaim,
    /// The run that made the call.
    pub run: RunId,
    /// When the call was claimed or, once there is a receipt, when that arrived, in milliseconds since 1970.
    pub since_ms: i64,
    /// The receipt, returned byte for byte; `None` while the outcome of the call is unknown.
    pub receipt: Option<String>,
}

impl StoredKey {
    /// When the window ends, in milliseconds since 1970. From then on the key counts as free.
    pub fn until_ms(&self) -> i64 {
        self.since_ms.saturating_add_unsigned(self.claim.window_ms)
    }
}

/// What [`Journal::claim_with_key`](crate::Journal::claim_with_key) found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyedClaim {
    /// The key was free or belongs to the same step: the effect is claimed, unless it was claimed before.
    Claimed(ClaimOutcome),
    /// Another call has done the deed. Nothing was written.
    Done(StoredKey),
    /// The outcome of another call is unknown. Nothing was written.
    Held { by: StoredKey, has_ended: bool },
}

/// What became of the deed of a call, stored together with the event that decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    pub claim: KeyClaim,
    /// The receipt; `None` if the call had no effect, so that the key is free again.
    pub receipt: Option<String>,
}
