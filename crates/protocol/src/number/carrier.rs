//! Numbers where only machine numbers pass.

use super::{Number, Repr};

/// The machine number that stands for one of ours.
pub(crate) enum Carrier {
    I64(i64),
    U64(u64),
    /// The nearest float; see [`Number::is_exactly`].
    F64(f64),
}

impl Number {
    /// Integers travel as integers if they fit. What was written with a point or an exponent stays a float if that
    /// loses nothing, so that `5.0` does not turn into `5`.
    pub(crate) fn carrier(&self) -> Carrier {
        if let Repr::Int(integer) = &self.0 {
            return Carrier::I64(*integer);
        }
        let float = self.to_f64();
        if self.with_text(|text| text.contains(['.', 'e', 'E'])) && self.is_exactly(float) {
            return Carrier::F64(float);
        }
        match (self.as_i64(), self.as_u64()) {
            (Some(integer), _) => Carrier::I64(integer),
            (None, Some(integer)) => Carrier::U64(integer),
            (None, None) => Carrier::F64(float),
        }
    }

    /// Whether the float, written down in its shortest form, has the same value.
    pub(crate) fn is_exactly(&self, float: f64) -> bool {
        Self::try_from(float).is_ok_and(|back| back == *self)
    }
}
