//! Times as people write them: `500ms`, `30s`, `2 min`, `1h`.

/// Reads a time; the number may not be negative.
pub(crate) fn millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ms" => 1,
        "s" | "sec" | "seconds" => 1_000,
        "m" | "min" | "minutes" => 60_000,
        "h" | "hours" => 3_600_000,
        "d" | "days" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Writes a time so that it can be read again, in the largest unit that leaves nothing over.
pub(super) fn words(ms: u64) -> String {
    let units = [(86_400_000, " days"), (3_600_000, "h"), (60_000, " min"), (1_000, "s")];
    let unit = units.into_iter().find(|(factor, _)| ms > 0 && ms.is_multiple_of(*factor));
    unit.map_or_else(|| format!("{ms}ms"), |(factor, word)| format!("{}{word}", ms / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_needs_a_unit() {
        for (text, expected) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            ("2 min", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("7 days", Some(604_800_000)),
            ("30", None),
            ("-1s", None),
            ("s", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(millis(text), expected, "case: {text}");
        }
    }

    #[test]
    fn a_time_is_written_as_it_is_read() {
        for (ms, expected) in [(0, "0ms"), (1, "1ms"), (1_500, "1500ms"), (90_000, "90s"), (600_000, "10 min")] {
            assert_eq!(words(ms), expected);
            assert_eq!(millis(expected), Some(ms));
        }
    }
}
