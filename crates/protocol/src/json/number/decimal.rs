//! Decimal arithmetic with 34 digits, the only one of the workspace. A longer result is rounded half to even and marked.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::Number;

const DIGITS: u32 = 34;

/// Ten to the power of [`DIGITS`]: one more than the largest coefficient.
const COEFFICIENT_LIMIT: u128 = 10_u128.pow(DIGITS);

/// The digits with which results are computed before they are rounded. A `u128` has room for the sum of two such numbers.
const WORKING_DIGITS: u32 = DIGITS + 3;

/// The maximum distance of the first digit from the decimal point.
const MAX_MAGNITUDE: i64 = 6144;

/// Whether a result is exact or rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
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
}

/// A number of at most 34 digits: sign, coefficient and power of ten.
///
/// The coefficient has no trailing zeros and zero is always [`Decimal::ZERO`], so equal numbers have equal fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    coefficient: u128,
    exponent: i64,
}

/// Why an operation on decimals has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    #[error("division by zero")]
    DivisionByZero,
    /// The result has more than 6144 digits before or after the decimal point.
    #[error("the number is too large or too small")]
    OutOfRange,
}

/// A decimal, and whether it is exact.
type Rounded = Result<(Decimal, Exactness), DecimalError>;

impl Decimal {
    pub const ZERO: Self = Self { negative: false, coefficient: 0, exponent: 0 };

    /// A normalised decimal. The coefficient is at most [`COEFFICIENT_LIMIT`].
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

    /// Rounds to 34 digits. Where `has_more` digits follow that are not all zero, the coefficient has at least 35 digits.
    fn round(negative: bool, coefficient: u128, exponent: i64, has_more: bool) -> Rounded {
        let dropped = digits(coefficient).saturating_sub(DIGITS);
        let (kept, is_exact) = round_half_even(coefficient, dropped, has_more);
        let exactness = if is_exact { Exactness::Exact } else { Exactness::Inexact };
        Ok((Self::new(negative, kept, exponent + i64::from(dropped))?, exactness))
    }

    /// Converts a JSON number, rounding it to 34 digits.
    pub fn from_number(number: &Number) -> Rounded {
        number.with_normal_form(|form| {
            let mut digits = form.digits();
            let first = digits.by_ref().take(WORKING_DIGITS as usize);
            let coefficient = first.fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'));
            let exponent = form.scale.saturating_sub(form.count().min(i64::from(WORKING_DIGITS)));
            Self::round(form.negative, coefficient, exponent, digits.next().is_some())
        })
    }

    /// Converts to a JSON number in its shortest spelling.
    pub fn to_number(self) -> Result<Number, DecimalError> {
        let sign = if self.negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.coefficient, self.exponent);
        let canonical = Number::parse(&text).map_err(|_| DecimalError::OutOfRange)?.canonical();
        Number::parse(&canonical).map_err(|_| DecimalError::OutOfRange)
    }

    fn negated(self) -> Self {
        Self { negative: !self.negative && self != Self::ZERO, ..self }
    }

    pub fn checked_add(self, other: Self) -> Rounded {
        if self == Self::ZERO || other == Self::ZERO {
            return Ok((if self == Self::ZERO { other } else { self }, Exactness::Exact));
        }
        let (upper, lower) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let gap = u32::try_from(upper.exponent - lower.exponent).unwrap_or(u32::MAX);
        let zeros = gap.min(WORKING_DIGITS - digits(upper.coefficient));
        let cut = gap - zeros;
        // Of the digits behind the working ones, only whether there are any affects the rounding.
        let (below, has_more) = match 10_u128.checked_pow(cut) {
            Some(unit) => (lower.coefficient / unit, !lower.coefficient.is_multiple_of(unit)),
            None => (0, true),
        };
        let above = upper.coefficient * 10_u128.pow(zeros);
        let exponent = lower.exponent + i64::from(cut);
        if upper.negative == lower.negative {
            return Self::round(upper.negative, above + below, exponent, has_more);
        }
        // Subtracting the cut digits rounded up leaves a positive fraction, which counts as cut again.
        let below = below + u128::from(has_more);
        Self::round(upper.negative != (below > above), above.abs_diff(below), exponent, has_more)
    }

    pub fn checked_sub(self, other: Self) -> Rounded {
        self.checked_add(other.negated())
    }

    /// The product, computed in halves of 17 digits.
    pub fn checked_mul(self, other: Self) -> Rounded {
        const HALF: u128 = 10_u128.pow(DIGITS / 2);
        let (left_high, left_low) = (self.coefficient / HALF, self.coefficient % HALF);
        let (right_high, right_low) = (other.coefficient / HALF, other.coefficient % HALF);
        let middle = left_high * right_low + left_low * right_high;
        let low = left_low * right_low + (middle % HALF) * HALF;
        let high = left_high * right_high + middle / HALF + low / COEFFICIENT_LIMIT;
        let low = low % COEFFICIENT_LIMIT;
        let cut = digits(high).saturating_sub(WORKING_DIGITS - DIGITS);
        let unit = 10_u128.pow(cut);
        let coefficient = high * 10_u128.pow(DIGITS - cut) + low / unit;
        let exponent = self.exponent + other.exponent + i64::from(cut);
        Self::round(self.negative != other.negative, coefficient, exponent, !low.is_multiple_of(unit))
    }

    pub fn checked_div(self, other: Self) -> Rounded {
        if other == Self::ZERO {
            return Err(DecimalError::DivisionByZero);
        }
        let divisor = other.coefficient;
        let (mut quotient, mut remainder) = (self.coefficient / divisor, self.coefficient % divisor);
        let mut exponent = self.exponent - other.exponent;
        // Computes one digit more than is kept, so that the remainder only breaks ties.
        while remainder != 0 && quotient < COEFFICIENT_LIMIT {
            remainder *= 10;
            quotient = quotient * 10 + remainder / divisor;
            remainder %= divisor;
            exponent -= 1;
        }
        Self::round(self.negative != other.negative, quotient, exponent, remainder != 0)
    }

    /// The remainder of the integer division, with the sign of `self`. Always exact.
    pub fn checked_rem(self, other: Self) -> Rounded {
        if other == Self::ZERO {
            return Err(DecimalError::DivisionByZero);
        }
        let gap = self.exponent - other.exponent;
        let (remainder, exponent) = if gap < 0 {
            let zeros = u32::try_from(-gap).unwrap_or(u32::MAX);
            if zeros.saturating_add(digits(other.coefficient)) > DIGITS {
                return Ok((self, Exactness::Exact));
            }
            (self.coefficient % (other.coefficient * 10_u128.pow(zeros)), self.exponent)
        } else {
            let first = self.coefficient % other.coefficient;
            ((0..gap).fold(first, |remainder, _| remainder * 10 % other.coefficient), other.exponent)
        };
        Ok((Self::new(self.negative, remainder, exponent)?, Exactness::Exact))
    }

    /// Rounds to a number of decimal places, half to even.
    pub fn rounded(self, places: i64) -> Result<Self, DecimalError> {
        match u32::try_from(-places - self.exponent) {
            Ok(dropped @ 1..=DIGITS) => {
                Self::new(self.negative, round_half_even(self.coefficient, dropped, false).0, -places)
            }
            Ok(dropped) if dropped > 0 => Ok(Self::ZERO),
            _ => Ok(self),
        }
    }
}

fn digits(coefficient: u128) -> u32 {
    coefficient.checked_ilog10().unwrap_or(0) + 1
}

/// The coefficient without its last digits, and whether these and the digits behind them are all zero.
fn round_half_even(coefficient: u128, dropped: u32, has_more: bool) -> (u128, bool) {
    let unit = 10_u128.pow(dropped);
    let (kept, rest) = (coefficient / unit, coefficient % unit);
    let is_up = 2 * rest > unit || (2 * rest == unit && (has_more || !kept.is_multiple_of(2)));
    (kept + u128::from(is_up), rest == 0 && !has_more)
}
