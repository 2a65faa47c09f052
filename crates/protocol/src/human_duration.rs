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

const UNITS: [(u128, &[&str]); 8] = [
    (1, &["ns", "nsec", "nanosecond", "nanoseconds"]),
    (1_000, &["us", "µs", "usec", "microsecond", "microseconds"]),
    (1_000_000, &["ms", "msec", "millisecond", "milliseconds"]),
    (1_000_000_000, &["s", "sec", "secs", "second", "seconds"]),
    (60_000_000_000, &["m", "min", "mins", "minute", "minutes"]),
    (3_600_000_000_000, &["h", "hr", "hrs", "hour", "hours"]),
    (86_400_000_000_000, &["d", "day", "days"]),
    (604_800_000_000_000, &["w", "wk", "wks", "week", "weeks"]),
];

/// Reads a duration as people write it, in milliseconds: a number and a unit, once or several times, such as `500ms`, `1.5 s`,
/// `2 min`, `1h 30m` or `7 days`. A day has 24 hours. It reads what [`human_duration`] writes.
///
/// `None` if the text is not a duration, is negative, or has a fraction of a millisecond.
pub fn parse_human_duration(text: &str) -> Option<u64> {
    let (nanos, is_whole) = parse_nanos(text)?;
    u64::try_from(nanos / 1_000_000).ok().filter(|_| is_whole && nanos.is_multiple_of(1_000_000))
}

/// The nanoseconds of a duration, rounded down, and whether they are whole.
pub(crate) fn parse_nanos(text: &str) -> Option<(u128, bool)> {
    let mut rest = text.trim();
    let mut total: Option<(u128, bool)> = None;
    while !rest.is_empty() {
        let (number, after) = split_while(rest, |c| c.is_ascii_digit() || c == '.')?;
        let (unit, after) = split_while(after.trim_start(), char::is_alphabetic)?;
        let (factor, _) = UNITS.iter().find(|(_, names)| names.contains(&unit))?;
        let (nanos, is_whole) = times(number, *factor)?;
        let (sum, was_whole) = total.unwrap_or((0, true));
        total = Some((sum.checked_add(nanos)?, was_whole && is_whole));
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    total
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    text.split_at_checked(text.len() - text.trim_start_matches(belongs).len())
}

/// A decimal number times a whole one, rounded down, and whether the product is whole.
fn times(number: &str, factor: u128) -> Option<(u128, bool)> {
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (number, "0"),
    };
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = fraction.parse::<u128>().ok()?.checked_mul(factor)?;
    let product = whole.parse::<u128>().ok()?.checked_mul(factor)?.checked_add(part / scale)?;
    Some((product, part.is_multiple_of(scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_in_the_units_that_people_use() {
        for (text, ms) in [
            ("500ms", Some(500)),
            ("30s", Some(30_000)),
            (" 1 h 30 min ", Some(5_400_000)),
            ("2min", Some(120_000)),
            ("", None),
            ("5", None),
            ("500 ms", Some(500)),
            ("30 sec", Some(30_000)),
            ("30 seconds", Some(30_000)),
            ("2m", Some(120_000)),
            (" 2  min ", Some(120_000)),
            ("02 minutes", Some(120_000)),
            ("1 hours", Some(3_600_000)),
            ("1d", Some(86_400_000)),
            ("7 days", Some(604_800_000)),
            ("1 week", Some(604_800_000)),
            ("1h30m", Some(5_400_000)),
            ("1 h, 30 min", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("0.25 h", Some(900_000)),
            ("3000us", Some(3)),
            ("0s", Some(0)),
            ("18446744073709551615ms", Some(u64::MAX)),
            ("18446744073709551616ms", None),
            ("1.5ms", None),
            ("1.s", None),
            (".5s", None),
            ("1.2.3s", None),
            ("1 month", None),
            ("1 fortnight", None),
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
