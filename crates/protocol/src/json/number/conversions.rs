//! Conversions between [`Number`] and the number types of Rust; equality, order and hash of numbers by value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::normal_form::MAX_PLAIN_DIGITS;
use super::{Number, NumberError, Repr};

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
        self.with_normal_form(|form| {
            let digits = form.integer_digits(limit)?;
            Some(if form.negative { format!("-{digits}") } else { digits })
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

/// The 64-bit number that represents a [`Number`] best.
pub(crate) enum MachineNumber {
    I64(i64),
    U64(u64),
    /// The nearest float; see [`Number::has_decimal_text_of`].
    F64(f64),
}

impl Number {
    /// Prefers an integer if it fits. A number written with a point or an exponent stays a float if that is exact, so
    /// that `5.0` does not turn into `5`.
    pub(crate) fn to_machine_number(&self) -> MachineNumber {
        if let Repr::Int(integer) = &self.0 {
            return MachineNumber::I64(*integer);
        }
        let float = self.to_f64();
        if self.with_text(|text| text.contains(['.', 'e', 'E'])) && self.has_decimal_text_of(float) {
            return MachineNumber::F64(float);
        }
        match (self.as_i64(), self.as_u64()) {
            (Some(integer), _) => MachineNumber::I64(integer),
            (None, Some(integer)) => MachineNumber::U64(integer),
            (None, None) => MachineNumber::F64(float),
        }
    }

    /// Whether the shortest decimal text of the float has the same value as this number.
    pub(crate) fn has_decimal_text_of(&self, float: f64) -> bool {
        Self::try_from(float).is_ok_and(|back| back == *self)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Int(left), Repr::Int(right)) => left.cmp(right),
            _ => self.with_normal_form(|left| other.with_normal_form(|right| left.compare(&right))),
        }
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // `5.0` is equal to `5`, so it must have the same hash.
        if let Some(integer) = self.as_i64() {
            integer.hash(state);
            return;
        }
        self.with_normal_form(|form| {
            form.negative.hash(state);
            form.scale.hash(state);
            for digit in form.digits() {
                state.write_u8(digit);
            }
        });
    }
}
