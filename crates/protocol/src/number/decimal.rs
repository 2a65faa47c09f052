//! A number taken apart, so that values can be compared exactly.

use std::cmp::Ordering;

/// Integers of up to this many digits are spelt out; beyond, an exponent is shorter.
pub(super) const PLAIN_DIGITS: i64 = 40;

/// How many zeros may stand behind the point before an exponent is shorter.
const PLAIN_ZEROS: i64 = 6;

/// Sign, significant digits and scale: the value is `0.DIGITS` times ten to the power of `top`.
///
/// The digits have no zero at either end, so equal values have equal parts. Zero has no digits, no sign and scale 0.
/// The digits are kept as the two pieces that stand before and behind the point.
pub(super) struct Decimal<'a> {
    pub(super) negative: bool,
    before: &'a [u8],
    behind: &'a [u8],
    pub(super) top: i64,
}

impl<'a> Decimal<'a> {
    /// Takes apart a text of the JSON number grammar.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = split(text, |byte| matches!(byte, b'e' | b'E'));
        let (before, behind) = split(mantissa, |byte| *byte == b'.');
        let (before, mut behind) = (trim_start(before), trim_end(behind));
        let mut top = parse_exponent(exponent).saturating_add(length(before));
        if before.is_empty() {
            let trimmed = trim_start(behind);
            top = top.saturating_sub(length(behind) - length(trimmed));
            behind = trimmed;
        }
        let before = if behind.is_empty() { trim_end(before) } else { before };
        if before.is_empty() && behind.is_empty() {
            return Self { negative: false, before, behind, top: 0 };
        }
        Self { negative, before, behind, top }
    }

    /// The significant digits, as ASCII.
    pub(super) fn digits(&self) -> impl Iterator<Item = u8> {
        self.before.iter().chain(self.behind).copied()
    }

    /// How many significant digits there are.
    pub(super) fn count(&self) -> i64 {
        length(self.before) + length(self.behind)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.before.is_empty() && self.behind.is_empty()
    }

    /// Whether all digits stand before the point; zero has none.
    pub(super) fn is_integer(&self) -> bool {
        self.count() <= self.top
    }

    /// The digits of an integer of at most `limit` digits, without sign; `None` for everything else.
    pub(super) fn integer_digits(&self, limit: i64) -> Option<String> {
        if self.is_zero() {
            return Some("0".to_owned());
        }
        if !self.is_integer() || self.top > limit {
            return None;
        }
        let mut text: String = self.digits().map(char::from).collect();
        push_zeros(&mut text, self.top - self.count());
        Some(text)
    }

    /// One spelling for each value.
    pub(super) fn canonical(&self) -> String {
        let mut text = String::new();
        if self.negative {
            text.push('-');
        }
        if let Some(digits) = self.integer_digits(PLAIN_DIGITS) {
            return text + &digits;
        }
        if self.top <= 0 && self.top >= -PLAIN_ZEROS {
            text.push_str("0.");
            push_zeros(&mut text, -self.top);
            text.extend(self.digits().map(char::from));
        } else if self.top > 0 && self.top <= PLAIN_DIGITS {
            self.push_with_point(&mut text, self.top);
        } else {
            self.push_with_point(&mut text, 1);
            text.push('e');
            text.push_str(&(self.top - 1).to_string());
        }
        text
    }

    /// Writes the digits with a point behind the first `whole` of them, or none if there are no more.
    fn push_with_point(&self, text: &mut String, whole: i64) {
        for (digit, place) in self.digits().zip(0..) {
            if place == whole {
                text.push('.');
            }
            text.push(char::from(digit));
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.top.cmp(&other.top).then_with(|| self.digits().cmp(other.digits())),
        }
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal<'_> {}

/// What stands before and behind the first byte that `is_mark`; nothing stands behind if there is none.
fn split(text: &[u8], is_mark: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, is_mark);
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

/// At most 18 digits, so it always fits; an absent exponent is zero.
fn parse_exponent(text: &[u8]) -> i64 {
    str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn push_zeros(text: &mut String, count: i64) {
    text.extend((0..count).map(|_| '0'));
}
