//! Conversion to the 64-bit numbers that serde supports.

use super::{Number, Repr};

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
