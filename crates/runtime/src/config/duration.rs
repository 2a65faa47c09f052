//! Durations as people write them: `500ms`, `30s`, `2 min`, `1h 30m`, `7 days`.

use std::time::Duration;

use jiff::SpanRelativeTo;
use jiff::fmt::friendly::SpanParser;

/// Parses a duration into milliseconds. A day has 24 hours. Returns `None` for text that is no duration, for a negative
/// one and for a fraction of a millisecond.
pub fn parse_ms(text: &str) -> Option<u64> {
    let (parser, text) = (SpanParser::new(), text.trim());
    // jiff parses days only as part of a `Span`, which cannot hold `u64::MAX` milliseconds.
    let with_days = || {
        let span = parser.parse_span(text).ok()?;
        Duration::try_from(span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?).ok()
    };
    let duration = parser.parse_unsigned_duration(text).ok().or_else(with_days)?;
    let is_whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    u64::try_from(duration.as_millis()).ok().filter(|_| is_whole)
}

/// Formats milliseconds in the largest unit that leaves no remainder. [`parse_ms`] reads the text back.
pub(super) fn format_ms(ms: u64) -> String {
    let units = [(86_400_000, " days"), (3_600_000, "h"), (60_000, " min"), (1_000, "s")];
    let unit = units.into_iter().find(|(factor, _)| ms > 0 && ms.is_multiple_of(*factor));
    unit.map_or_else(|| format!("{ms}ms"), |(factor, word)| format!("{}{word}", ms / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_needs_a_unit_and_has_no_sign() {
        for (text, expected) in [
            ("500ms", Some(500)),
            ("500 ms", Some(500)),
            ("30s", Some(30_000)),
            ("30 sec", Some(30_000)),
            ("30 seconds", Some(30_000)),
            ("2m", Some(120_000)),
            (" 2  min ", Some(120_000)),
            ("02 minutes", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("1 hours", Some(3_600_000)),
            ("1d", Some(86_400_000)),
            ("7 days", Some(604_800_000)),
            ("1h 30m", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("0s", Some(0)),
            ("1.5ms", None),
            ("1 month", None),
            ("30", None),
            ("-1s", None),
            ("s", None),
            ("", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(parse_ms(text), expected, "case: {text}");
        }
    }

    #[test]
    fn a_formatted_duration_can_be_parsed() {
        for (ms, expected) in [
            (0, "0ms"),
            (1, "1ms"),
            (1_500, "1500ms"),
            (90_000, "90s"),
            (600_000, "10 min"),
            (604_800_000, "7 days"),
            (u64::MAX, "18446744073709551615ms"),
        ] {
            assert_eq!(format_ms(ms), expected);
            assert_eq!(parse_ms(expected), Some(ms));
        }
    }
}
