//! Conversions between [`Number`] and the number types of Rust.

use super::decimal::MAX_PLAIN_DIGITS;
use super::{Number, NumberError, Repr};

/// The most digits that a `u64` or an `i64` has.
const MAX_U64_DIGITS: i64 = 20;

impl Number {
    /// The value if it is an integer that fits, in any spelling: `5.0` and `1e3` convert.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Int(integer) => Some(*integer),
            _ => self.integer_text(MAX_U64_DIGITS)?.parse().ok(),
        }
    }

    /// The value if it is an integer that fits, in any spelling: `5.0` and `1e3` convert.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Int(integer) => u64::try_from(*integer).ok(),
            _ => self.integer_text(MAX_U64_DIGITS)?.parse().ok(),
        }
    }

    /// The nearest float; an infinity if the number is out of range.
    pub fn to_f64(&self) -> f64 {
        // `f64` parses every JSON number.
        self.with_text(|text| text.parse().unwrap_or(f64::NAN))
    }

    /// The same value written as an integer: `5.0` gives `5`, `1e3` gives `1000`.
    ///
    /// `None` if there is a fractional part, or if the result would have more than 40 digits.
    pub fn to_integer(&self) -> Option<Self> {
        match &self.0 {
            Repr::Int(_) => Some(self.clone()),
            _ => Self::parse(&self.integer_text(MAX_PLAIN_DIGITS)?).ok(),
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
        // A `usize` has at most 64 bits.
        u64::try_from(value).unwrap_or(u64::MAX).into()
    }
}

impl TryFrom<f64> for Number {
    type Error = NumberError;

    /// The shortest text that parses as the same float, always with a fraction or an exponent: `5.0`.
    ///
    /// Fails for infinities and NaN.
    fn try_from(value: f64) -> Result<Self, NumberError> {
        if !value.is_finite() {
            return Err(NumberError::NotFinite);
        }
        Self::parse(&format!("{value:?}"))
    }
}
