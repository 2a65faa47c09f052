//! Numbers of twice the digits, for what comes before rounding.

use super::{DIGITS, Decimal, Exactness, LIMIT, Rounded, Undefined, power};

/// A number of up to 68 digits: `high` times ten to the power of 34, and `low`. Both are below that power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wide {
    pub(super) high: u128,
    pub(super) low: u128,
}

/// Whether something that is not zero was left out behind the last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    Something,
}

impl Wide {
    /// The product of two coefficients, by halves of 17 digits.
    pub(super) fn product(left: u128, right: u128) -> Self {
        const HALF: u128 = 10_u128.pow(DIGITS / 2);
        let (left_high, left_low) = (left / HALF, left % HALF);
        let (right_high, right_low) = (right / HALF, right % HALF);
        let middle = left_high * right_low + left_low * right_high;
        let low = left_low * right_low + (middle % HALF) * HALF;
        Self { high: left_high * right_high + middle / HALF + low / LIMIT, low: low % LIMIT }
    }

    /// A coefficient with zeros behind it; together they have at most 68 digits.
    pub(super) fn shifted(coefficient: u128, zeros: u32) -> Self {
        if zeros >= DIGITS {
            return Self { high: coefficient * power(zeros - DIGITS), low: 0 };
        }
        let split = power(DIGITS - zeros);
        Self { high: coefficient / split, low: (coefficient % split) * power(zeros) }
    }

    /// Adds what is below the limit; the result may need one digit more than 68, which `high` has room for.
    pub(super) fn plus(self, added: u128) -> Self {
        let low = self.low + added;
        Self { high: self.high + low / LIMIT, low: low % LIMIT }
    }

    /// The distance between this and a coefficient, and whether the coefficient is the larger one.
    pub(super) fn minus(self, taken: u128) -> (Self, bool) {
        match (self.high, self.low.checked_sub(taken)) {
            (high, Some(low)) => (Self { high, low }, false),
            (0, None) => (Self { high: 0, low: taken - self.low }, true),
            (high, None) => (Self { high: high - 1, low: LIMIT + self.low - taken }, false),
        }
    }

    /// The nearest number of 34 digits, half to even.
    pub(super) fn round(self, negative: bool, exponent: i64, rest: Rest) -> Result<Rounded, Undefined> {
        let Some(drop) = self.high.checked_ilog10().map(|digits| digits + 1) else {
            let rounded = rest == Rest::Something;
            return Ok((Decimal::new(negative, self.low, exponent)?, Exactness::unless(rounded)));
        };
        let kept_zeros = power(DIGITS.saturating_sub(drop));
        let dropped = power(drop.min(DIGITS));
        let (mut coefficient, mut behind, mut unit) =
            (self.high * kept_zeros + self.low / dropped, self.low % dropped, dropped);
        if drop > DIGITS {
            // A carry has made `high` one digit too long: what is left out begins with its last digit.
            (coefficient, behind, unit) = (self.high / 10, (self.high % 10) * LIMIT + self.low, 10 * LIMIT);
        }
        let half = unit / 2;
        let odd = !coefficient.is_multiple_of(2);
        let up = behind > half || (behind == half && (rest == Rest::Something || odd));
        coefficient += u128::from(up);
        let rounded = behind != 0 || rest == Rest::Something;
        Ok((Decimal::new(negative, coefficient, exponent + i64::from(drop))?, Exactness::unless(rounded)))
    }
}
