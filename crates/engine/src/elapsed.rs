//! Time between two moments.

/// The time between two moments in milliseconds since 1970; 0 if the second one is not later.
pub(crate) fn ms_between(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0)
}
