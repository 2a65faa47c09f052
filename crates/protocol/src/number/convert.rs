//! Between our numbers and the machine's.

use super::decimal::PLAIN_DIGITS;
use super::{Number, NumberError, Repr};

/// Nineteen digits are the most an `i64` has, twenty the most a `u64` has.
const U64_DIGITS: i64 = 20;

impl Number {
    /// The value, if it is an integer that fits; spelling does not matter, so `5.0` and `1e3` convert.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Int(integer) => Some(*integer),
            _ => self.integer_text(U64_DIGITS)?.parse().ok(),
        }
    }

    /// The value, if it is an integer that fits; spelling does not matter, so `5.0` and `1e3` convert.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Int(integer) => u64::try_from(*integer).ok(),
            _ => self.integer_text(U64_DIGITS)?.parse().ok(),
        }
    }

    /// The nearest float. Digits beyond a float's precision are lost; beyond its range the result is an infinity.
    pub fn to_f64(&self) -> f64 {
        // The grammar of JSON numbers is a subset of what `f64` reads, so this does not fail.
        self.with_text(|text| text.parse().unwrap_or(f64::NAN))
    }

    /// The same value spelt as an integer: `5.0` gives `5`, `1e3` gives `1000`.
    ///
    /// `None` if there is a fractional part, or if the result would have more than 40 digits.
    pub fn to_integer(&self) -> Option<Self> {
        match &self.0 {
            Repr::Int(_) => Some(self.clone()),
            _ => Self::parse(&self.integer_text(PLAIN_DIGITS)?).ok(),
        }
    }

    /// The digits with their sign, if the value is an integer of at most `limit` digits.
    fn integer_text(&self, limit: i64) -> Option<String> {
        self.with_decimal(|decimal| {
            let digits = decimal.integer_digits(limit)?;
            Some(if decimal.negative { format!("-{digits}") } else { digits })
        })
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Repr::Int(value))
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        i64::from(value).into()
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        i64::from(value).into()
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        if let Ok(integer) = i64::try_from(value) {
            return integer.into();
        }
        let text = value.to_string();
        Self::from_text(&text, text.len())
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        // No machine has more than 64 bits to a `usize`.
        u64::try_from(value).unwrap_or(u64::MAX).into()
    }
}

impl TryFrom<f64> for Number {
    type Error = NumberError;

    /// The shortest digits that read back as the same float, with a fraction or an exponent so that it shows: `5.0`.
    ///
    /// Fails for infinities and NaN.
    fn try_from(value: f64) -> Result<Self, NumberError> {
        if !value.is_finite() {
            return Err(NumberError::NotFinite);
        }
        Self::parse(&format!("{value:?}"))
    }
}
