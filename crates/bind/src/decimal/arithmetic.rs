//! Calculating.

use super::wide::{Rest, Wide};
use super::{DIGITS, Decimal, Exactness, LIMIT, Rounded, Undefined, power};

impl Decimal {
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self }
    }

    pub(crate) fn add(self, other: Self) -> Result<Rounded, Undefined> {
        if self.is_zero() || other.is_zero() {
            return Ok((if self.is_zero() { other } else { self }, Exactness::Exact));
        }
        let (upper, lower) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let gap = u64::try_from(upper.exponent - lower.exponent).unwrap_or_default();
        let length = gap + u64::from(upper.digits());
        // Behind 68 digits nothing of the lower number matters but that it is there.
        let cut = u32::try_from(length.saturating_sub(2 * u64::from(DIGITS))).unwrap_or(u32::MAX);
        let zeros = u32::try_from(gap).unwrap_or(u32::MAX).saturating_sub(cut);
        let (kept, lost) = cut_off(lower.coefficient, cut);
        let exponent = lower.exponent + i64::from(cut);
        let wide = Wide::shifted(upper.coefficient, zeros);
        if upper.negative == lower.negative {
            return wide.plus(kept).round(upper.negative, exponent, lost);
        }
        // Taking away one too many and adding the rest back leaves a rest, too.
        let taken = kept + u128::from(lost == Rest::Something);
        let (difference, turned) = wide.minus(taken);
        difference.round(upper.negative != turned, exponent, lost)
    }

    pub(crate) fn subtract(self, other: Self) -> Result<Rounded, Undefined> {
        self.add(other.negated())
    }

    pub(crate) fn multiply(self, other: Self) -> Result<Rounded, Undefined> {
        let product = Wide::product(self.coefficient, other.coefficient);
        product.round(self.negative != other.negative, self.exponent + other.exponent, Rest::Nothing)
    }

    pub(crate) fn divide(self, other: Self) -> Result<Rounded, Undefined> {
        if other.is_zero() {
            return Err(Undefined::ByZero);
        }
        let divisor = other.coefficient;
        let mut quotient = self.coefficient / divisor;
        let mut left = self.coefficient % divisor;
        let mut exponent = self.exponent - other.exponent;
        // One digit more than is kept, so that the rest decides only between the halves.
        while left != 0 && quotient < LIMIT {
            left *= 10;
            quotient = quotient * 10 + left / divisor;
            left %= divisor;
            exponent -= 1;
        }
        let rest = if left == 0 { Rest::Nothing } else { Rest::Something };
        let wide = Wide { high: quotient / LIMIT, low: quotient % LIMIT };
        wide.round(self.negative != other.negative, exponent, rest)
    }

    /// What is left of dividing by a whole number of times, with the sign of `self`. Always exact.
    pub(crate) fn remainder(self, other: Self) -> Result<Rounded, Undefined> {
        if other.is_zero() {
            return Err(Undefined::ByZero);
        }
        let gap = self.exponent - other.exponent;
        if gap < 0 {
            let zeros = u32::try_from(-gap).unwrap_or(u32::MAX);
            if zeros.saturating_add(other.digits()) > DIGITS {
                return Ok((self, Exactness::Exact));
            }
            let left = self.coefficient % (other.coefficient * power(zeros));
            return Ok((Self::new(self.negative, left, self.exponent)?, Exactness::Exact));
        }
        let mut left = self.coefficient % other.coefficient;
        for _ in 0..gap {
            left = left * 10 % other.coefficient;
        }
        Ok((Self::new(self.negative, left, other.exponent)?, Exactness::Exact))
    }

    /// The nearest number with this many places behind the point, half to even.
    pub(crate) fn rounded(self, places: i64) -> Result<Self, Undefined> {
        let drop = -places - self.exponent;
        let Ok(drop @ 1..) = u32::try_from(drop) else { return Ok(self) };
        if drop > DIGITS {
            return Ok(Self::ZERO);
        }
        let unit = power(drop);
        let (whole, behind) = (self.coefficient / unit, self.coefficient % unit);
        let up = behind > unit / 2 || (behind == unit / 2 && !whole.is_multiple_of(2));
        Self::new(self.negative, whole + u128::from(up), -places)
    }
}

/// The number without its last digits, and whether they were anything but zeros.
fn cut_off(coefficient: u128, digits: u32) -> (u128, Rest) {
    if digits == 0 {
        return (coefficient, Rest::Nothing);
    }
    if digits > DIGITS {
        return (0, Rest::Something);
    }
    let unit = power(digits);
    let rest = if coefficient.is_multiple_of(unit) { Rest::Nothing } else { Rest::Something };
    (coefficient / unit, rest)
}
