//! Converts between decimals and JSON numbers.

use reknit_protocol::Number;

use super::{DIGITS, Decimal, DecimalError, Exactness, Rounded};

impl Decimal {
    /// Converts a JSON number, rounding it to 34 digits.
    pub(crate) fn from_number(number: &Number) -> Result<Rounded, DecimalError> {
        let text = number.to_string();
        let (negative, text) = text.strip_prefix('-').map_or((false, text.as_str()), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0');
        let mut coefficient = CoefficientDigits::default();
        digits.for_each(|digit| coefficient.push(u128::from(digit - b'0')));
        // `Number` allows at most 18 digits in an exponent, so this does not fail.
        let exponent: i64 = exponent.parse().map_err(|_| DecimalError::OutOfRange)?;
        let shift = coefficient.dropped - i64::try_from(fraction).unwrap_or(i64::MAX);
        let exponent = exponent.saturating_add(shift);
        let (coefficient, exactness) = coefficient.round();
        Ok((Self::new(negative, coefficient, exponent)?, exactness))
    }

    /// Converts to a JSON number in its shortest spelling.
    pub(crate) fn to_number(self) -> Result<Number, DecimalError> {
        let sign = if self.negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.coefficient, self.exponent);
        let canonical = Number::parse(&text).map_err(|_| DecimalError::OutOfRange)?.canonical();
        Number::parse(&canonical).map_err(|_| DecimalError::OutOfRange)
    }
}

/// The first 34 digits of a number, and what is needed to round them.
#[derive(Default)]
struct CoefficientDigits {
    coefficient: u128,
    count: u32,
    /// The first dropped digit.
    next: u128,
    /// Whether a later dropped digit is not zero.
    has_nonzero_tail: bool,
    /// The number of dropped digits.
    dropped: i64,
}

impl CoefficientDigits {
    fn push(&mut self, digit: u128) {
        if self.count < DIGITS {
            self.coefficient = self.coefficient * 10 + digit;
            self.count += 1;
            return;
        }
        if self.dropped == 0 {
            self.next = digit;
        } else {
            self.has_nonzero_tail |= digit != 0;
        }
        self.dropped += 1;
    }

    fn round(&self) -> (u128, Exactness) {
        let is_odd = !self.coefficient.is_multiple_of(2);
        let round_up = self.next > 5 || (self.next == 5 && (self.has_nonzero_tail || is_odd));
        (self.coefficient + u128::from(round_up), Exactness::unless_rounded(self.next != 0 || self.has_nonzero_tail))
    }
}
