//! What a claim was answered with.

/// What [`Journal::claim`](crate::Journal::claim) found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Nobody had claimed the effect: it is the caller's to perform.
    Fresh,
    /// It was claimed before, so it may have been performed. It stays claimed forever.
    Already,
}
