//! Exact decimals of up to 34 digits, rounded half to even and marked where they do not suffice.

mod arithmetic;
mod convert;
mod wide;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// How many digits a result can have.
pub(crate) const DIGITS: u32 = 34;

/// One more than the largest coefficient: ten to the power of [`DIGITS`].
const LIMIT: u128 = 10_u128.pow(DIGITS);

/// The first digit of a number stands at most this many places before or behind the point.
const MAX_MAGNITUDE: i64 = 6144;

/// Whether a result is the true one or a rounded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// Every digit is right and none is missing.
    #[default]
    Exact,
    /// It was rounded to 34 digits.
    Inexact,
}

impl Exactness {
    /// Inexact as soon as one is.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other == Self::Exact { self } else { Self::Inexact }
    }

    fn unless(rounded: bool) -> Self {
        if rounded { Self::Inexact } else { Self::Exact }
    }
}

/// A number of at most 34 digits: sign, coefficient, power of ten.
///
/// The coefficient does not end in a zero, so equal values have equal parts. Zero is plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    coefficient: u128,
    exponent: i64,
}

/// A result, and whether it was rounded.
pub(crate) type Rounded = (Decimal, Exactness);

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undefined {
    /// Division by zero.
    ByZero,
    /// Too large or too small to be written down.
    OutOfRange,
}

impl Decimal {
    pub(crate) const ZERO: Self = Self { negative: false, coefficient: 0, exponent: 0 };

    /// The number with these parts; the coefficient is at most [`LIMIT`].
    fn new(negative: bool, mut coefficient: u128, mut exponent: i64) -> Result<Self, Undefined> {
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        while coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        let magnitude = exponent + i64::from(coefficient.ilog10());
        if magnitude.abs() > MAX_MAGNITUDE {
            return Err(Undefined::OutOfRange);
        }
        Ok(Self { negative, coefficient, exponent })
    }

    fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// How many digits the coefficient has; one for zero.
    fn digits(self) -> u32 {
        self.coefficient.checked_ilog10().unwrap_or(0) + 1
    }
}

/// Ten to a power of at most 38.
fn power(exponent: u32) -> u128 {
    10_u128.saturating_pow(exponent)
}
