//! Durations as settings are written.

/// Formats milliseconds in the largest unit that leaves no remainder. `parse_human_duration` reads the text back.
pub(super) fn format_ms(ms: u64) -> String {
    let units = [(86_400_000, " days"), (3_600_000, "h"), (60_000, " min"), (1_000, "s")];
    let unit = units.into_iter().find(|(factor, _)| ms > 0 && ms.is_multiple_of(*factor));
    unit.map_or_else(|| format!("{ms}ms"), |(factor, word)| format!("{}{word}", ms / factor))
}

#[cfg(test)]
mod tests {
    use reknit_protocol::parse_human_duration;

    use super::*;

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
            assert_eq!(parse_human_duration(expected), Some(ms));
        }
    }
}
