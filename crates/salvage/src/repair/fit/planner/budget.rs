//! The limit on the planner's work.

use std::collections::HashSet;

use reknit_protocol::Value;

use crate::schema::{Schema, SubschemaId, count_values};

/// How many visits are allowed for a value of any size.
const BASE: u64 = 500_000;

/// How many more visits are allowed for each value inside the value.
///
/// Ordinary schemas need one or two visits, unions one for each alternative at each level. A value that needs more visits
/// has so many combinations that planning would not end.
const PER_VALUE: u64 = 100;

/// How many subschemas may be compiled, counting those that a subschema refers to. A schema that refers to itself is compiled
/// as a whole for each of its subschemas that are used.
const MAX_COMPILED: u64 = 100_000;

/// How many subschemas can always be used, however large the schema.
const MIN_USED: u64 = 64;

/// The number of visits left.
#[derive(Debug)]
pub(super) struct Budget<'v> {
    pub(super) value: &'v Value,
    left: u64,
    per_value: u64,
    used: HashSet<SubschemaId>,
    max_used: u64,
    /// Whether the visits per value were added. They are added when `BASE` is used up, which rarely happens.
    is_measured: bool,
}

impl<'v> Budget<'v> {
    /// The budget for a value and a schema with this factor of work, because a visit of the planner may validate a value.
    pub(super) fn new(value: &'v Value, schema: &Schema) -> Self {
        let factor = schema.work_factor();
        let max_used = u64::max(MAX_COMPILED / schema.compile_work(), MIN_USED);
        let (left, per_value) = (BASE / factor, PER_VALUE / factor);
        Self { value, left, per_value, used: HashSet::new(), max_used, is_measured: false }
    }

    /// Whether these subschemas may be used, because they are not too many together with those that already were. What was
    /// compiled for an earlier value counts as well, so that the result for a value is always the same.
    pub(super) fn may_use(&mut self, subschemas: &[SubschemaId]) -> bool {
        self.used.extend(subschemas);
        u64::try_from(self.used.len()).is_ok_and(|used| used <= self.max_used)
    }

    /// Takes visits from the budget; false if there are not enough left.
    pub(super) fn spend(&mut self, visits: u64) -> bool {
        if visits > self.left && !self.is_measured {
            self.is_measured = true;
            self.left = self.left.saturating_add(count_values(self.value).saturating_mul(self.per_value));
        }
        let left = self.left.checked_sub(visits);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use reknit_protocol::Value;

    use super::super::{KeyRenaming, Planner, Validity};
    use crate::Schema;

    /// Plans a value that fits a union of `alternatives`, with `{"a": ...}` on `levels`. Returns whether planning gave up, and
    /// how often subschemas were compared with values.
    fn plan(alternatives: usize, alternative: impl Fn(usize) -> String, levels: usize) -> (bool, usize) {
        let alternatives: Vec<String> = (0..alternatives).map(alternative).collect();
        let schema = format!(r#"{{"anyOf": [{}]}}"#, alternatives.join(", "));
        let schema = Schema::compile(&Value::parse(&schema).expect("JSON")).expect("a schema");
        let value = format!("{}1{}", r#"{"a": "#.repeat(levels), "}".repeat(levels));
        let value = Value::parse(&value).expect("JSON");
        assert!(schema.fits(&value));
        let (_, notes) = Planner::new(&value, &schema, &HashSet::new(), KeyRenaming::On).run(Validity::Valid);
        (notes.gave_up, schema.comparisons())
    }

    #[test]
    fn each_alternative_that_a_value_may_fit_costs_a_validation() {
        let recursive = |number: usize| format!(r##"{{"properties": {{"a": {{"$ref": "#"}}, "k{number}": true}}}}"##);
        assert!(!plan(3, recursive, 30).0);
        let (gave_up, comparisons) = plan(40, recursive, 60);
        assert!(gave_up);
        assert!(comparisons < 10_000, "{comparisons}");
    }

    #[test]
    fn only_some_subschemas_of_a_large_recursive_schema_are_compiled() {
        let with_patterns = |number: usize| {
            format!(r##"{{"properties": {{"a": {{"$ref": "#"}}, "k{number}": {{"pattern": "x+{number}y"}}}}}}"##)
        };
        assert!(!plan(10, with_patterns, 1).0);
        assert!(plan(100, with_patterns, 1).0);
        let flat =
            |number: usize| format!(r#"{{"properties": {{"a": true, "k{number}": {{"pattern": "x+{number}y"}}}}}}"#);
        assert!(!plan(100, flat, 1).0);
    }
}
