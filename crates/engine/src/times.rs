//! Times between two moments, and moments for people.

use reknit_protocol::timestamp_text;

/// The time between two moments in milliseconds since 1970; 0 if the second one is not later.
pub(crate) fn ms_between(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0)
}

/// A time in milliseconds since 1970 as `2026-11-16T18:20:56Z`.
pub(crate) fn utc_time(ms: i64) -> String {
    let text = timestamp_text(ms);
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_as_date_and_time_of_day() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (1_794_853_256_123, "2026-11-16T18:20:56Z"),
        ] {
            assert_eq!(utc_time(ms), text);
        }
    }
}
