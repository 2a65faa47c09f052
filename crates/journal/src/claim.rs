//! Claims of effects, and their outcomes.

/// What [`Journal::claim`](crate::Journal::claim) found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The effect had no claim: the caller may perform it.
    New,
    /// The effect was claimed before, so it may have been performed already. The claim is permanent.
    AlreadyClaimed,
}
