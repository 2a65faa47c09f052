//! Arithmetic on decimals.

use super::wide::{Discarded, WideCoefficient};
use super::{COEFFICIENT_LIMIT, DIGITS, Decimal, DecimalError, Exactness, Rounded, power_of_ten};

impl Decimal {
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self }
    }

    pub(crate) fn add(self, other: Self) -> Result<Rounded, DecimalError> {
        if self.is_zero() || other.is_zero() {
            return Ok((if self.is_zero() { other } else { self }, Exactness::Exact));
        }
        let (upper, lower) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let gap = u64::try_from(upper.exponent - lower.exponent).unwrap_or_default();
        let length = gap + u64::from(upper.digits());
        // Beyond 68 digits, only whether the lower number is zero affects the rounding.
        let cut = u32::try_from(length.saturating_sub(2 * u64::from(DIGITS))).unwrap_or(u32::MAX);
        let zeros = u32::try_from(gap).unwrap_or(u32::MAX).saturating_sub(cut);
        let (kept, discarded) = truncate_digits(lower.coefficient, cut);
        let exponent = lower.exponent + i64::from(cut);
        let wide = WideCoefficient::shifted(upper.coefficient, zeros);
        if upper.negative == lower.negative {
            return wide.plus(kept).round(upper.negative, exponent, discarded);
        }
        // Subtracting the discarded digits rounded up leaves a positive fraction, which counts as discarded again.
        let subtrahend = kept + u128::from(discarded == Discarded::NonZero);
        let (difference, is_negated) = wide.minus(subtrahend);
        difference.round(upper.negative != is_negated, exponent, discarded)
    }

    pub(crate) fn subtract(self, other: Self) -> Result<Rounded, DecimalError> {
        self.add(other.negated())
    }

    pub(crate) fn multiply(self, other: Self) -> Result<Rounded, DecimalError> {
        let product = WideCoefficient::product(self.coefficient, other.coefficient);
        product.round(self.negative != other.negative, self.exponent + other.exponent, Discarded::Zero)
    }

    pub(crate) fn divide(self, other: Self) -> Result<Rounded, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let divisor = other.coefficient;
        let mut quotient = self.coefficient / divisor;
        let mut remainder = self.coefficient % divisor;
        let mut exponent = self.exponent - other.exponent;
        // Computes one digit more than is kept, so that the remainder only breaks ties.
        while remainder != 0 && quotient < COEFFICIENT_LIMIT {
            remainder *= 10;
            quotient = quotient * 10 + remainder / divisor;
            remainder %= divisor;
            exponent -= 1;
        }
        let discarded = if remainder == 0 { Discarded::Zero } else { Discarded::NonZero };
        let wide = WideCoefficient { high: quotient / COEFFICIENT_LIMIT, low: quotient % COEFFICIENT_LIMIT };
        wide.round(self.negative != other.negative, exponent, discarded)
    }

    /// The remainder of the integer division, with the sign of `self`. Always exact.
    pub(crate) fn remainder(self, other: Self) -> Result<Rounded, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let gap = self.exponent - other.exponent;
        if gap < 0 {
            let zeros = u32::try_from(-gap).unwrap_or(u32::MAX);
            if zeros.saturating_add(other.digits()) > DIGITS {
                return Ok((self, Exactness::Exact));
            }
            let remainder = self.coefficient % (other.coefficient * power_of_ten(zeros));
            return Ok((Self::new(self.negative, remainder, self.exponent)?, Exactness::Exact));
        }
        let mut remainder = self.coefficient % other.coefficient;
        for _ in 0..gap {
            remainder = remainder * 10 % other.coefficient;
        }
        Ok((Self::new(self.negative, remainder, other.exponent)?, Exactness::Exact))
    }

    /// Rounds to a number of decimal places, half to even.
    pub(crate) fn rounded(self, places: i64) -> Result<Self, DecimalError> {
        let drop = -places - self.exponent;
        let Ok(drop @ 1..) = u32::try_from(drop) else { return Ok(self) };
        if drop > DIGITS {
            return Ok(Self::ZERO);
        }
        let unit = power_of_ten(drop);
        let (whole, fraction) = (self.coefficient / unit, self.coefficient % unit);
        let round_up = fraction > unit / 2 || (fraction == unit / 2 && !whole.is_multiple_of(2));
        Self::new(self.negative, whole + u128::from(round_up), -places)
    }
}

/// Removes the last digits of a coefficient.
fn truncate_digits(coefficient: u128, digits: u32) -> (u128, Discarded) {
    if digits == 0 {
        return (coefficient, Discarded::Zero);
    }
    if digits > DIGITS {
        return (0, Discarded::NonZero);
    }
    let unit = power_of_ten(digits);
    let discarded = if coefficient.is_multiple_of(unit) { Discarded::Zero } else { Discarded::NonZero };
    (coefficient / unit, discarded)
}
