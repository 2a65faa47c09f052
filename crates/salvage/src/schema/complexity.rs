//! How much work a schema can cause, measured before it is compiled.
//!
//! A small schema can ask for a huge amount of work: if each of twenty definitions refers to the next one twice, a validator
//! visits a million subschemas. The measure counts these visits without making them, because each subschema is measured once.

use std::collections::HashMap;

use jsonschema::{FancyRegex, PatternOptions};
use reknit_protocol::{Object, Value};

use super::schema_index::{REFERENCE_KEYWORDS, SchemaIndex};

/// How many subschemas a validator may have to visit on the way to one place in a value. Ordinary schemas need some dozens,
/// large unions inside large unions some thousands.
pub(crate) const MAX_VISITS: u64 = 10_000;

/// The work that a schema can cause. All counts saturate.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Complexity {
    /// The largest number of subschemas that apply to the values on the way to one place, including repeated visits.
    pub(crate) visits: u64,
    /// The number of ways that lead from the schema back to a schema around it.
    pub(crate) recursions: u64,
    /// The number of regular expressions.
    pub(crate) patterns: usize,
}

/// How many bytes all regular expressions of a schema may take, and the most that one may take.
const MAX_PATTERN_BYTES: usize = 64 << 20;
const MAX_BYTES_PER_PATTERN: usize = 4 << 20;

/// How many steps back all regular expressions together may take in one match of each.
const MAX_BACKTRACKS: usize = 200_000;

impl Complexity {
    /// The limits of one regular expression, of which there may be many.
    pub(crate) fn pattern_options(self) -> PatternOptions<FancyRegex> {
        let share = |total: usize| total / self.patterns.max(1);
        let bytes = share(MAX_PATTERN_BYTES).min(MAX_BYTES_PER_PATTERN);
        let backtracks = share(MAX_BACKTRACKS).max(1000);
        PatternOptions::fancy_regex().size_limit(bytes).dfa_size_limit(bytes).backtrack_limit(backtracks)
    }
}

/// The work for one subschema.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// Subschemas that apply to the same value.
    here: u64,
    /// Subschemas that apply on the way to one place inside the value.
    below: u64,
    recursions: u64,
}

impl Measure {
    fn visits(self) -> u64 {
        self.here.saturating_add(self.below)
    }

    /// Adds a subschema that applies to the same value.
    fn add_here(&mut self, other: Self) {
        self.here = self.here.saturating_add(other.here);
        self.below = self.below.saturating_add(other.below);
        self.recursions = self.recursions.saturating_add(other.recursions);
    }
}

/// Measures a schema.
pub(crate) fn measure(root: &Value, index: &SchemaIndex<'_>) -> Complexity {
    let mut meter = Meter { index, measures: HashMap::new(), patterns: 0 };
    let Measure { here, below, recursions } = meter.measure(root);
    Complexity { visits: here.saturating_add(below), recursions, patterns: meter.patterns }
}

struct Meter<'s, 'i> {
    index: &'i SchemaIndex<'s>,
    /// By the address of the subschema; `None` while it is being measured.
    measures: HashMap<usize, Option<Measure>>,
    patterns: usize,
}

/// Comparing a value with this many allowed values takes about as long as one visit.
const ALLOWED_VALUES_PER_VISIT: usize = 32;

impl<'s> Meter<'s, '_> {
    fn measure(&mut self, schema: &'s Value) -> Measure {
        let address = std::ptr::from_ref(schema).addr();
        match self.measures.get(&address) {
            Some(Some(known)) => return *known,
            // The schema refers to a schema around it. The validator remembers its verdict about each value there.
            Some(None) => return Measure { here: 1, below: 0, recursions: 1 },
            None => {}
        }
        let Value::Object(object) = schema else { return Measure { here: 1, ..Measure::default() } };
        self.measures.insert(address, None);
        let allowed = object.get("enum").and_then(Value::as_array).map_or(0, <[Value]>::len);
        let here = u64::try_from(1 + allowed / ALLOWED_VALUES_PER_VISIT).unwrap_or(u64::MAX);
        let mut measure = Measure { here, ..Measure::default() };
        let names = object.get("patternProperties").and_then(Value::as_object).map_or(0, Object::len);
        self.patterns += names + usize::from(object.contains_key("pattern"));
        for target in self.same_value(schema, object) {
            let other = self.measure(target);
            measure.add_here(other);
        }
        self.add_children(object, &mut measure);
        self.measures.insert(address, Some(measure));
        measure
    }

    /// The subschemas that apply to the same value as this one.
    fn same_value(&self, schema: &'s Value, object: &'s Object) -> Vec<&'s Value> {
        let references = REFERENCE_KEYWORDS.iter().filter_map(|keyword| object.get(keyword)?.as_str());
        let mut targets: Vec<&Value> = references.filter_map(|text| self.index.resolve(schema, text)).collect();
        for keyword in ["allOf", "anyOf", "oneOf"] {
            targets.extend(object.get(keyword).and_then(Value::as_array).unwrap_or_default());
        }
        targets.extend(["not", "if", "then", "else"].iter().filter_map(|keyword| object.get(keyword)));
        for keyword in ["dependentSchemas", "dependencies"] {
            targets.extend(object.get(keyword).and_then(Value::as_object).into_iter().flat_map(Object::values));
        }
        targets
    }

    /// Adds the subschemas for the values inside: of those with a name or an index only one applies to each value.
    fn add_children(&mut self, object: &'s Object, measure: &mut Measure) {
        let mut below = 0_u64;
        for (keyword, only_one) in [("properties", true), ("patternProperties", false)] {
            let children = object.get(keyword).and_then(Value::as_object).into_iter().flat_map(Object::values);
            below = below.saturating_add(self.add_group(children, only_one, measure));
        }
        for keyword in ["prefixItems", "items"] {
            let children = object.get(keyword).and_then(Value::as_array).unwrap_or_default();
            below = below.saturating_add(self.add_group(children, true, measure));
        }
        let others = [
            "items",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
        ];
        let children = others.iter().filter_map(|keyword| object.get(keyword));
        below = below.saturating_add(self.add_group(children, false, measure));
        measure.below = measure.below.saturating_add(below);
    }

    /// Adds the recursions of the subschemas and returns their visits: those of the largest if only one applies to a value,
    /// otherwise those of all.
    fn add_group(&mut self, children: impl IntoIterator<Item = &'s Value>, only_one: bool, total: &mut Measure) -> u64 {
        let mut visits = 0_u64;
        for child in children {
            let measure = self.measure(child);
            total.recursions = total.recursions.saturating_add(measure.recursions);
            visits = if only_one { visits.max(measure.visits()) } else { visits.saturating_add(measure.visits()) };
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(schema: &str) -> u64 {
        let schema = Value::parse(schema).expect("JSON");
        measure(&schema, &SchemaIndex::new(&schema, jsonschema::Draft::Draft202012)).visits
    }

    #[test]
    fn alternatives_add_up_and_properties_do_not() {
        assert_eq!(visits("true"), 1);
        assert_eq!(visits(r#"{"anyOf": [true, {"allOf": [true, true]}]}"#), 5);
        assert_eq!(visits(r#"{"properties": {"a": {"not": true}, "b": true, "c": true}}"#), 3);
        assert_eq!(visits(r#"{"items": {"items": {"items": true}}}"#), 4);
    }

    #[test]
    fn a_definition_is_counted_at_each_reference_to_it() {
        let twice = r##"{"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"not": true}}}"##;
        assert_eq!(visits(twice), 7);
    }

    #[test]
    fn a_reference_back_to_a_schema_around_it_counts_once() {
        assert_eq!(visits(r##"{"items": {"$ref": "#"}}"##), 3);
    }

    #[test]
    fn allowed_values_count_in_groups() {
        let list = vec!["1"; 320].join(", ");
        assert_eq!(visits(&format!(r#"{{"enum": [{list}]}}"#)), 11);
    }
}
