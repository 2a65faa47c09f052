//! Equality, order and hash of numbers by value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::{Number, Repr};

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
    /// Compares by value, exactly.
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Int(left), Repr::Int(right)) => left.cmp(right),
            _ => self.with_decimal(|left| other.with_decimal(|right| left.compare(&right))),
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
        self.with_decimal(|decimal| {
            decimal.negative.hash(state);
            decimal.scale.hash(state);
            for digit in decimal.digits() {
                state.write_u8(digit);
            }
        });
    }
}
