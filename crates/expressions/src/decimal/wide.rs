//! Coefficients of 68 digits: unrounded sums and products.

use super::{COEFFICIENT_LIMIT, DIGITS, Decimal, DecimalError, Exactness, Rounded, power_of_ten};

/// A coefficient of up to 68 digits: `high` times ten to the power of 34, plus `low`. Both are below that power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WideCoefficient {
    pub(super) high: u128,
    pub(super) low: u128,
}

/// Whether the digits that were discarded after the last digit are all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Discarded {
    Zero,
    NonZero,
}

impl WideCoefficient {
    /// The product of two coefficients, computed in halves of 17 digits.
    pub(super) fn product(left: u128, right: u128) -> Self {
        const HALF: u128 = 10_u128.pow(DIGITS / 2);
        let (left_high, left_low) = (left / HALF, left % HALF);
        let (right_high, right_low) = (right / HALF, right % HALF);
        let middle = left_high * right_low + left_low * right_high;
        let low = left_low * right_low + (middle % HALF) * HALF;
        Self { high: left_high * right_high + middle / HALF + low / COEFFICIENT_LIMIT, low: low % COEFFICIENT_LIMIT }
    }

    /// A coefficient followed by zeros, at most 68 digits together.
    pub(super) fn shifted(coefficient: u128, zeros: u32) -> Self {
        if zeros >= DIGITS {
            return Self { high: coefficient * power_of_ten(zeros - DIGITS), low: 0 };
        }
        let split = power_of_ten(DIGITS - zeros);
        Self { high: coefficient / split, low: (coefficient % split) * power_of_ten(zeros) }
    }

    /// Adds a coefficient. The result may have 69 digits, which `high` has room for.
    pub(super) fn plus(self, added: u128) -> Self {
        let low = self.low + added;
        Self { high: self.high + low / COEFFICIENT_LIMIT, low: low % COEFFICIENT_LIMIT }
    }

    /// The absolute difference to a coefficient, and whether the coefficient is larger.
    pub(super) fn minus(self, other: u128) -> (Self, bool) {
        match (self.high, self.low.checked_sub(other)) {
            (high, Some(low)) => (Self { high, low }, false),
            (0, None) => (Self { high: 0, low: other - self.low }, true),
            (high, None) => (Self { high: high - 1, low: COEFFICIENT_LIMIT + self.low - other }, false),
        }
    }

    /// Rounds to 34 digits, half to even.
    pub(super) fn round(self, negative: bool, exponent: i64, discarded: Discarded) -> Result<Rounded, DecimalError> {
        let Some(drop) = self.high.checked_ilog10().map(|digits| digits + 1) else {
            let rounded = discarded == Discarded::NonZero;
            return Ok((Decimal::new(negative, self.low, exponent)?, Exactness::unless_rounded(rounded)));
        };
        let scale = power_of_ten(DIGITS.saturating_sub(drop));
        let dropped = power_of_ten(drop.min(DIGITS));
        let (mut coefficient, mut fraction, mut unit) =
            (self.high * scale + self.low / dropped, self.low % dropped, dropped);
        if drop > DIGITS {
            // A carry made `high` one digit too long, so its last digit is dropped too.
            (coefficient, fraction, unit) =
                (self.high / 10, (self.high % 10) * COEFFICIENT_LIMIT + self.low, 10 * COEFFICIENT_LIMIT);
        }
        let half = unit / 2;
        let is_odd = !coefficient.is_multiple_of(2);
        let round_up = fraction > half || (fraction == half && (discarded == Discarded::NonZero || is_odd));
        coefficient += u128::from(round_up);
        let rounded = fraction != 0 || discarded == Discarded::NonZero;
        Ok((Decimal::new(negative, coefficient, exponent + i64::from(drop))?, Exactness::unless_rounded(rounded)))
    }
}
