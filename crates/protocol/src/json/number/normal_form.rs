//! The digits of a number in normal form, however many there are, for exact comparison.

use std::cmp::Ordering;

/// The most digits before the point that are written without an exponent.
pub(super) const MAX_PLAIN_DIGITS: i64 = 40;

/// The most zeros right after the point that are written without an exponent.
const MAX_PLAIN_ZEROS: i64 = 6;

/// Sign, significant digits and scale: the value is `0.DIGITS` times ten to the power of `scale`.
///
/// The digits have no zero at either end, so equal values have equal parts. Zero has no digits, no sign and scale 0.
/// The digits are two slices of the text, before and after the point.
pub(super) struct NormalForm<'a> {
    pub(super) negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    pub(super) scale: i64,
}

impl<'a> NormalForm<'a> {
    /// Parses a text that is a valid JSON number.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = split(text, |byte| matches!(byte, b'e' | b'E'));
        let (whole, fraction) = split(mantissa, |byte| *byte == b'.');
        let (whole, mut fraction) = (trim_start(whole), trim_end(fraction));
        let mut scale = parse_exponent(exponent).saturating_add(length(whole));
        if whole.is_empty() {
            let trimmed = trim_start(fraction);
            scale = scale.saturating_sub(length(fraction) - length(trimmed));
            fraction = trimmed;
        }
        let whole = if fraction.is_empty() { trim_end(whole) } else { whole };
        if whole.is_empty() && fraction.is_empty() {
            return Self { negative: false, whole, fraction, scale: 0 };
        }
        Self { negative, whole, fraction, scale }
    }

    pub(super) fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied()
    }

    pub(super) fn count(&self) -> i64 {
        length(self.whole) + length(self.fraction)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    pub(super) fn is_integer(&self) -> bool {
        self.count() <= self.scale
    }

    /// The digits of an integer of at most `limit` digits, without the sign; `None` for any other number.
    pub(super) fn integer_digits(&self, limit: i64) -> Option<String> {
        if self.is_zero() {
            return Some("0".to_owned());
        }
        if !self.is_integer() || self.scale > limit {
            return None;
        }
        let mut text: String = self.digits().map(char::from).collect();
        push_zeros(&mut text, self.scale - self.count());
        Some(text)
    }

    pub(super) fn canonical(&self) -> String {
        let mut text = String::new();
        if self.negative {
            text.push('-');
        }
        if let Some(digits) = self.integer_digits(MAX_PLAIN_DIGITS) {
            return text + &digits;
        }
        if self.scale <= 0 && self.scale >= -MAX_PLAIN_ZEROS {
            text.push_str("0.");
            push_zeros(&mut text, -self.scale);
            text.extend(self.digits().map(char::from));
        } else if self.scale > 0 && self.scale <= MAX_PLAIN_DIGITS {
            self.push_with_point(&mut text, self.scale);
        } else {
            self.push_with_point(&mut text, 1);
            text.push('e');
            text.push_str(&(self.scale - 1).to_string());
        }
        text
    }

    /// Appends the digits, with a point after the first `point` of them if there are more.
    fn push_with_point(&self, text: &mut String, point: i64) {
        for (digit, position) in self.digits().zip(0..) {
            if position == point {
                text.push('.');
            }
            text.push(char::from(digit));
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.scale.cmp(&other.scale).then_with(|| self.digits().cmp(other.digits())),
        }
    }
}

/// Splits at the first byte that `is_separator`; the second part is empty if there is none.
fn split(text: &[u8], is_separator: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, is_separator);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

fn trim_end(digits: &[u8]) -> &[u8] {
    let kept = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    digits.get(..kept).unwrap_or_default()
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

/// An absent exponent is zero. An exponent has at most 18 digits, so it always fits.
fn parse_exponent(text: &[u8]) -> i64 {
    str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn push_zeros(text: &mut String, count: i64) {
    text.extend((0..count).map(|_| '0'));
}
