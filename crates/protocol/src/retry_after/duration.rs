//! Durations in text: `6m0s`, `1.5s`, `20ms`, `1h`, `2 minutes`.

/// About thirty thousand years: longer than any real wait, and exact in both `f64` and `u64`.
const MAX_MILLIS: f64 = 1e15;

/// The units in milliseconds. A name comes before its own prefixes, because the first match counts.
const UNITS: &[(&str, f64)] = &[
    ("milliseconds", 1.0),
    ("millisecond", 1.0),
    ("seconds", 1e3),
    ("minutes", 6e4),
    ("second", 1e3),
    ("minute", 6e4),
    ("hours", 3.6e6),
    ("hour", 3.6e6),
    ("days", 8.64e7),
    ("secs", 1e3),
    ("mins", 6e4),
    ("day", 8.64e7),
    ("sec", 1e3),
    ("min", 6e4),
    ("ms", 1.0),
    ("us", 0.001),
    ("µs", 0.001),
    ("ns", 0.000_001),
    ("s", 1e3),
    ("m", 6e4),
    ("h", 3.6e6),
    ("d", 8.64e7),
];

/// Parses a finite number that starts with a digit, so it has no sign.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let starts_with_digit = text.starts_with(|first: char| first.is_ascii_digit());
    text.parse::<f64>().ok().filter(|number| starts_with_digit && number.is_finite())
}

/// Parses a duration to milliseconds, rounded up.
pub(super) fn parse(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut millis = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (digits, tail) = rest.split_at_checked(end)?;
        let tail = tail.trim_start();
        let (name, unit) = UNITS.iter().find(|(name, _)| tail.starts_with(name))?;
        millis += parse_number(digits)? * unit;
        rest = tail.strip_prefix(name)?.trim_start();
    }
    (!text.trim().is_empty()).then(|| whole_millis(millis))
}

/// Rounds up to whole milliseconds.
pub(super) fn whole_millis(millis: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1e15")]
    let whole = millis.ceil().clamp(0.0, MAX_MILLIS) as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_in_every_unit_and_other_text_is_refused() {
        for (text, expected) in [
            ("6m0s", Some(360_000)),
            ("1s", Some(1_000)),
            ("7.66s", Some(7_660)),
            ("20ms", Some(20)),
            ("1h2m3s", Some(3_723_000)),
            ("2d", Some(172_800_000)),
            ("88us", Some(1)),
            ("34.074824224s", Some(34_075)),
            ("5", None),
            ("s", None),
            ("5 s", Some(5_000)),
            ("2 minutes", Some(120_000)),
            ("1 hour 30 min", Some(5_400_000)),
            ("5 5", None),
            (" ", None),
            ("5x", None),
            ("", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
