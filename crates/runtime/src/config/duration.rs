//! Times as people write them: `500ms`, `30s`, `2 min`, `1h`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A time as it is written. A type of its own, so that the error for a bare number says what to write.
#[derive(Debug)]
pub(super) struct Time(pub(super) String);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TimeVisitor).map(Self)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = String;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a time with its unit, in quotes, like \"30s\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

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
}
