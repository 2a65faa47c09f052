//! Durations and sizes as people write them: `5 min`, `500 MB`, `4GB`.

/// Formats milliseconds in the largest unit that leaves no remainder. `parse_human_duration` reads the text back.
pub(super) fn format_ms(ms: u64) -> String {
    let units = [(86_400_000, " days"), (3_600_000, "h"), (60_000, " min"), (1_000, "s")];
    let unit = units.into_iter().find(|(factor, _)| ms > 0 && ms.is_multiple_of(*factor));
    unit.map_or_else(|| format!("{ms}ms"), |(factor, word)| format!("{}{word}", ms / factor))
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

/// The units, the largest first. Those that are multiples of 1,024 are only read.
const UNITS: [(&str, u64); 5] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)];
const BINARY_UNITS: [(&str, u64); 4] = [("TIB", 1 << 40), ("GIB", 1 << 30), ("MIB", 1 << 20), ("KIB", 1 << 10)];

impl ByteSize {
    /// Parses a size with its unit; `0` needs none. `None` for other text and for a fraction of a byte.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        if text == "0" {
            return Some(Self(0));
        }
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = (text.get(..digits)?, text.get(digits..)?.trim());
        let (_, factor) = UNITS.into_iter().chain(BINARY_UNITS).find(|(name, _)| *name == unit)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole = whole.parse::<u64>().ok()?.checked_mul(factor)?;
        let fraction = match fraction {
            "" => 0,
            digits => {
                let scale = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
                let part = digits.parse::<u64>().ok()?.checked_mul(factor)?;
                part.is_multiple_of(scale).then_some(part / scale)?
            }
        };
        whole.checked_add(fraction).map(Self)
    }
}

/// In the largest unit that leaves no remainder. [`ByteSize::parse`] reads the text back.
impl std::fmt::Display for ByteSize {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = UNITS.into_iter().find(|(_, factor)| self.0 > 0 && self.0.is_multiple_of(*factor));
        match unit {
            Some((name, factor)) => write!(out, "{} {name}", self.0 / factor),
            None => write!(out, "{}", self.0),
        }
    }
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

    #[test]
    fn a_size_needs_a_unit_and_has_no_sign() {
        for (text, expected) in [
            ("4GB", Some(4_000_000_000)),
            ("4 gb", Some(4_000_000_000)),
            ("1.5 MB", Some(1_500_000)),
            ("2GiB", Some(2 << 30)),
            ("512 KiB", Some(512 << 10)),
            ("7 B", Some(7)),
            ("0", Some(0)),
            ("4", None),
            ("-1GB", None),
            ("0.5B", None),
            ("GB", None),
            ("4 XB", None),
            ("99999999999999TB", None),
        ] {
            assert_eq!(ByteSize::parse(text).map(|size| size.0), expected, "case: {text}");
        }
        for bytes in [0, 7, 1_000, 1_500_000, 4_000_000_000, 2 << 30] {
            assert_eq!(ByteSize::parse(&ByteSize(bytes).to_string()), Some(ByteSize(bytes)), "case: {bytes}");
        }
    }
}
