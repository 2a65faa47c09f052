//! Between decimals and the numbers of JSON.

use reknit_protocol::Number;

use super::{DIGITS, Decimal, Exactness, Rounded, Undefined};

impl Decimal {
    /// The number, rounded if it has more than 34 digits.
    pub(crate) fn from_number(number: &Number) -> Result<Rounded, Undefined> {
        let text = number.to_string();
        let (negative, text) = text.strip_prefix('-').map_or((false, text.as_str()), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0');
        let mut taken = Digits::default();
        digits.for_each(|digit| taken.push(u128::from(digit - b'0')));
        // The grammar allows 18 digits at most, so this does not fail.
        let exponent: i64 = exponent.parse().map_err(|_| Undefined::OutOfRange)?;
        let shift = taken.dropped - i64::try_from(fraction).unwrap_or(i64::MAX);
        let exponent = exponent.saturating_add(shift);
        let (coefficient, exactness) = taken.round();
        Ok((Self::new(negative, coefficient, exponent)?, exactness))
    }

    /// The number in its shortest spelling.
    pub(crate) fn to_number(self) -> Result<Number, Undefined> {
        let sign = if self.negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.coefficient, self.exponent);
        let canonical = Number::parse(&text).map_err(|_| Undefined::OutOfRange)?.canonical();
        Number::parse(&canonical).map_err(|_| Undefined::OutOfRange)
    }
}

/// The first 34 digits, and what is needed to round them.
#[derive(Default)]
struct Digits {
    coefficient: u128,
    count: u32,
    /// The first digit that has no place.
    next: u128,
    has_more: bool,
    dropped: i64,
}

impl Digits {
    fn push(&mut self, digit: u128) {
        if self.count < DIGITS {
            self.coefficient = self.coefficient * 10 + digit;
            self.count += 1;
            return;
        }
        if self.dropped == 0 {
            self.next = digit;
        } else {
            self.has_more |= digit != 0;
        }
        self.dropped += 1;
    }

    fn round(&self) -> (u128, Exactness) {
        let odd = !self.coefficient.is_multiple_of(2);
        let up = self.next > 5 || (self.next == 5 && (self.has_more || odd));
        (self.coefficient + u128::from(up), Exactness::unless(self.next != 0 || self.has_more))
    }
}
