//! Decimal arithmetic with 34 digits. A result with more digits is rounded half to even and marked as inexact.

mod arithmetic;
mod convert;
mod wide;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// The precision of a result.
pub(crate) const DIGITS: u32 = 34;

/// Ten to the power of [`DIGITS`]: one more than the largest coefficient.
const COEFFICIENT_LIMIT: u128 = 10_u128.pow(DIGITS);

/// The maximum distance of the first digit from the decimal point.
const MAX_MAGNITUDE: i64 = 6144;

/// Whether a result is exact or rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// The result is exact.
    #[default]
    Exact,
    /// The result was rounded to 34 digits.
    Inexact,
}

impl Exactness {
    /// `Inexact` if one of the two is.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other == Self::Exact { self } else { Self::Inexact }
    }

    fn unless_rounded(rounded: bool) -> Self {
        if rounded { Self::Inexact } else { Self::Exact }
    }
}

/// A number of at most 34 digits: sign, coefficient and power of ten.
///
/// The coefficient has no trailing zeros and zero is always [`Decimal::ZERO`], so equal numbers have equal fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    coefficient: u128,
    exponent: i64,
}

/// A result, and whether it is exact.
pub(crate) type Rounded = (Decimal, Exactness);

/// Why an operation has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalError {
    /// Division by zero.
    DivisionByZero,
    /// The result is too large or too small.
    OutOfRange,
}

impl Decimal {
    pub(crate) const ZERO: Self = Self { negative: false, coefficient: 0, exponent: 0 };

    /// Creates a normalized decimal. The coefficient is at most [`COEFFICIENT_LIMIT`].
    fn new(negative: bool, mut coefficient: u128, mut exponent: i64) -> Result<Self, DecimalError> {
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        while coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        let magnitude = exponent + i64::from(coefficient.ilog10());
        if magnitude.abs() > MAX_MAGNITUDE {
            return Err(DecimalError::OutOfRange);
        }
        Ok(Self { negative, coefficient, exponent })
    }

    fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// The number of digits of the coefficient; 1 for zero.
    fn digits(self) -> u32 {
        self.coefficient.checked_ilog10().unwrap_or(0) + 1
    }
}

/// Ten to the power of `exponent`, which is at most 38.
fn power_of_ten(exponent: u32) -> u128 {
    10_u128.saturating_pow(exponent)
}
