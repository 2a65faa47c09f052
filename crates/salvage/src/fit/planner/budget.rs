//! How much work may be done.

use reknit_protocol::Value;

/// How many places may be visited whatever the size of the value.
const BASE: usize = 1_000_000;

/// How often each place of the value may be visited on top of that.
///
/// Ordinary schemas need one or two visits; unions one for each alternative on each level. What needs more has so many
/// combinations that it would not end.
const PER_PLACE: usize = 100;

/// The work that is left, in places of the value.
#[derive(Debug)]
pub(super) struct Budget<'v> {
    pub(super) value: &'v Value,
    left: usize,
    /// The value is measured when the base is used up, which it hardly ever is.
    measured: bool,
}

impl<'v> Budget<'v> {
    pub(super) fn for_value(value: &'v Value) -> Self {
        Self { value, left: BASE, measured: false }
    }

    /// Takes from what is left; false if there is not enough.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        if work > self.left && !self.measured {
            self.measured = true;
            self.left = self.left.saturating_add(places(self.value).saturating_mul(PER_PLACE));
        }
        match self.left.checked_sub(work) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// How many values there are in a value, itself included.
pub(super) fn places(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().fold(1, |sum, item| sum.saturating_add(places(item))),
        Value::Object(object) => object.values().fold(1, |sum, value| sum.saturating_add(places(value))),
        _ => 1,
    }
}
