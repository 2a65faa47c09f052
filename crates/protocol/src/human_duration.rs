//! Durations as people write them.

/// A duration with a unit: `50 ms`, `1.5 s`, `2 min`, `1 h 30 min`.
pub fn human_duration(ms: u64) -> String {
    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const TWO_DAYS: u64 = 2 * DAY;
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        small => format!("{large} {large_unit} {small} {small_unit}"),
    };
    match ms {
        ..SECOND => format!("{ms} ms"),
        SECOND..MINUTE if ms.is_multiple_of(SECOND) => format!("{} s", ms / SECOND),
        SECOND..MINUTE => format!("{}.{} s", ms / SECOND, ms % SECOND / 100),
        MINUTE..HOUR => two(ms / MINUTE, "min", ms % MINUTE / SECOND, "s"),
        HOUR..TWO_DAYS => two(ms / HOUR, "h", ms % HOUR / MINUTE, "min"),
        TWO_DAYS.. => two(ms / DAY, "days", ms % DAY / HOUR, "h"),
    }
}

/// Reads what [`human_duration`] writes: a number and a unit (`ms`, `s`, `min`, `h`), once or several times, in milliseconds.
pub fn parse_human_duration(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total: Option<u64> = None;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at_checked(digits)?;
        let after = after.trim_start();
        let letters = after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at_checked(letters)?;
        let unit_ms: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "min" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        let part = number.parse::<u64>().ok()?.checked_mul(unit_ms)?;
        total = Some(total.unwrap_or(0).checked_add(part)?);
        rest = after.trim_start();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_in_the_units_that_people_use() {
        for (text, ms) in [
            ("500 ms", Some(500)),
            ("30s", Some(30_000)),
            (" 1 h 30 min ", Some(5_400_000)),
            ("2min", Some(120_000)),
            ("", None),
            ("5", None),
            ("5 days", None),
            ("s", None),
            ("-5 s", None),
            ("99999999999999999999 h", None),
        ] {
            assert_eq!(parse_human_duration(text), ms, "{text}");
        }
    }

    #[test]
    fn a_duration_is_printed_in_the_units_that_people_use() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1 s"),
            (1_550, "1.5 s"),
            (90_000, "1 min 30 s"),
            (120_000, "2 min"),
            (7_200_000, "2 h"),
            (5_400_000, "1 h 30 min"),
            (169_200_000, "47 h"),
            (176_400_000, "2 days 1 h"),
            (7_776_000_000, "90 days"),
        ] {
            assert_eq!(human_duration(ms), text);
        }
    }
}
