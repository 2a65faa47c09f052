//! The limit on the planner's work.

use reknit_protocol::Value;

/// How many visits are allowed for a value of any size.
const BASE: usize = 1_000_000;

/// How many more visits are allowed for each value inside the value.
///
/// Ordinary schemas need one or two visits, unions one for each alternative at each level. A value that needs more visits
/// has so many combinations that planning would not end.
const PER_VALUE: usize = 100;

/// The number of visits left.
#[derive(Debug)]
pub(super) struct Budget<'v> {
    pub(super) value: &'v Value,
    left: usize,
    per_value: usize,
    /// Whether the visits per value were added. They are added when `BASE` is used up, which rarely happens.
    is_measured: bool,
}

impl<'v> Budget<'v> {
    /// The budget for a value and a schema with this factor of work, because a visit of the planner may validate a value.
    pub(super) fn new(value: &'v Value, work_factor: u64) -> Self {
        let factor = usize::try_from(work_factor).unwrap_or(usize::MAX);
        Self { value, left: BASE / factor, per_value: PER_VALUE / factor, is_measured: false }
    }

    /// Takes visits from the budget; false if there are not enough left.
    pub(super) fn spend(&mut self, visits: usize) -> bool {
        if visits > self.left && !self.is_measured {
            self.is_measured = true;
            self.left = self.left.saturating_add(count_values(self.value).saturating_mul(self.per_value));
        }
        match self.left.checked_sub(visits) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// The number of values in a value, including itself.
pub(super) fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().fold(1, |sum, item| sum.saturating_add(count_values(item))),
        Value::Object(object) => object.values().fold(1, |sum, value| sum.saturating_add(count_values(value))),
        _ => 1,
    }
}
