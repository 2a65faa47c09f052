//! How much work a schema can cause, measured before it is compiled.
//!
//! A small schema can ask for a huge amount of work: if each of twenty definitions refers to the next one twice, a validator
//! visits a million subschemas. The measure counts these visits without making them, because each subschema is measured once.

use jsonschema::{FancyRegex, PatternOptions};
use reknit_protocol::{Object, Value};

use super::fast_hash::HashMap;
use super::keywords::{is_about_scalars, list, named};
use super::schema_index::{REFERENCE_KEYWORDS, SchemaIndex, address};

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
    /// The largest work of the regular expressions that apply on the way to one place, compared to [`MAX_MATCHING`].
    pub(crate) matching: u64,
    pub(crate) patterns: usize,
    /// The number of regular expressions that are matched by trying one way after the other.
    pub(crate) backtracking: usize,
    /// Whether a schema in `dependentSchemas` leads back to a schema around it.
    pub(crate) has_recursive_dependencies: bool,
}

/// How many bytes all regular expressions of a schema may take, and the most that one may take.
const MAX_PATTERN_BYTES: usize = 64 << 20;
const MAX_BYTES_PER_PATTERN: usize = 4 << 20;

/// How many bytes all tables that make matching faster may take, and the most that one may take.
const MAX_TABLE_BYTES: usize = 8 << 20;
const MAX_BYTES_PER_TABLE: usize = 1 << 20;

/// How many steps back all regular expressions together may take in one match of each, and how many one may always take.
const MAX_BACKTRACKS: usize = 5_000;
const MIN_BACKTRACKS: usize = 500;

/// How much work the regular expressions that apply on the way to one place may be. A regular expression with `n` places, such
/// as one that repeats a letter `n` times, counts `n * n`: it may be in all places at once, and has a table too large to keep.
pub(crate) const MAX_MATCHING: u64 = 2_500 * 2_500;

/// Matching a regular expression with all its steps back takes about as long as this many visits.
const VISITS_PER_BACKTRACKING: u64 = 16;

/// How often the validator starts again if regular expressions take too many steps back: it tries what follows if they match,
/// and what follows if they do not.
const MAX_RUNS: u64 = 64;

impl Complexity {
    /// The limits of one regular expression, of which there may be many.
    pub(crate) fn pattern_options(self) -> PatternOptions<FancyRegex> {
        let share = |total: usize| total / self.patterns.max(1);
        let bytes = share(MAX_PATTERN_BYTES).min(MAX_BYTES_PER_PATTERN);
        let table_bytes = share(MAX_TABLE_BYTES).min(MAX_BYTES_PER_TABLE);
        let backtracks = (MAX_BACKTRACKS / self.backtracking.max(1)).max(MIN_BACKTRACKS);
        PatternOptions::fancy_regex().size_limit(bytes).dfa_size_limit(table_bytes).backtrack_limit(backtracks)
    }

    /// The visits of all runs that one validation may take.
    pub(crate) fn visits_of_all_runs(self) -> u64 {
        if self.backtracking == 0 { self.visits } else { self.visits.saturating_mul(MAX_RUNS) }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// Subschemas that apply to the same value.
    here: u64,
    /// Subschemas that apply on the way to one place inside the value.
    below: u64,
    /// What collecting the names and indices that the subschema evaluates takes, besides validating: the branches in it are
    /// validated again, and theirs again.
    marking: u64,
    matching: u64,
    recursions: u64,
}

impl Measure {
    fn visits(self) -> u64 {
        self.here.saturating_add(self.below)
    }

    fn add_here(&mut self, other: Self) {
        self.here = self.here.saturating_add(other.here);
        self.below = self.below.saturating_add(other.below);
        self.marking = self.marking.saturating_add(other.visits()).saturating_add(other.marking);
        self.matching = self.matching.saturating_add(other.matching);
        self.recursions = self.recursions.saturating_add(other.recursions);
    }
}

pub(crate) fn measure(root: &Value, index: &SchemaIndex<'_>) -> Complexity {
    let mut meter = Meter { index, measures: HashMap::default(), counts: Complexity::default() };
    let measure = meter.measure(root);
    let Measure { matching, recursions, .. } = measure;
    Complexity { visits: measure.visits(), recursions, matching, ..meter.counts }
}

struct Meter<'s, 'i> {
    index: &'i SchemaIndex<'s>,
    /// By the address of the subschema; `None` while it is being measured.
    measures: HashMap<usize, Option<Measure>>,
    /// What is counted where it stands, however often it applies: the patterns and the recursive dependencies.
    counts: Complexity,
}

/// Comparing a value with this many allowed values takes about as long as one visit.
const ALLOWED_VALUES_PER_VISIT: usize = 32;

impl<'s> Meter<'s, '_> {
    fn measure(&mut self, schema: &'s Value) -> Measure {
        let address = address(schema);
        match self.measures.get(&address) {
            Some(Some(known)) => return *known,
            // The schema refers to a schema around it. The validator remembers its verdict about each value there.
            Some(None) => return Measure { here: 1, recursions: 1, ..Measure::default() },
            None => {}
        }
        let Value::Object(object) = schema else { return Measure { here: 1, ..Measure::default() } };
        let allowed = list(object, "enum").len();
        let here = u64::try_from(1 + allowed / ALLOWED_VALUES_PER_VISIT).unwrap_or(u64::MAX);
        let mut measure = Measure { here, ..Measure::default() };
        if object.keys().all(is_about_scalars) {
            self.measures.insert(address, Some(measure));
            return measure;
        }
        self.measures.insert(address, None);
        self.add_patterns(object, &mut measure);
        for target in self.same_value(schema, object) {
            let other = self.measure(target);
            measure.add_here(other);
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for schema in named(object, keyword) {
                self.counts.has_recursive_dependencies |= self.measure(schema).recursions > 0;
            }
        }
        if object.contains_key("unevaluatedProperties") || object.contains_key("unevaluatedItems") {
            measure.here = measure.here.saturating_add(measure.marking);
        }
        self.add_children(object, &mut measure);
        self.measures.insert(address, Some(measure));
        measure
    }

    fn add_patterns(&mut self, object: &'s Object, measure: &mut Measure) {
        let names = object.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Object::keys);
        for pattern in names.chain(object.get("pattern").and_then(Value::as_str)) {
            self.counts.patterns += 1;
            let places = places(pattern);
            measure.matching = measure.matching.saturating_add(places.saturating_mul(places));
            if backtracks(pattern) {
                self.counts.backtracking += 1;
                measure.here = measure.here.saturating_add(VISITS_PER_BACKTRACKING);
            }
        }
    }

    fn same_value(&self, schema: &'s Value, object: &'s Object) -> Vec<&'s Value> {
        let references = REFERENCE_KEYWORDS.iter().filter_map(|keyword| object.get(keyword)?.as_str());
        let mut targets: Vec<&Value> = references.filter_map(|text| self.index.resolve(schema, text)).collect();
        for keyword in ["allOf", "anyOf", "oneOf"] {
            targets.extend(list(object, keyword));
        }
        targets.extend(["not", "if", "then", "else"].iter().filter_map(|keyword| object.get(keyword)));
        for keyword in ["dependentSchemas", "dependencies"] {
            targets.extend(named(object, keyword));
        }
        targets
    }

    /// Adds the subschemas for the values inside: of those with a name or an index only one applies to each value.
    fn add_children(&mut self, object: &'s Object, measure: &mut Measure) {
        let mut below = 0_u64;
        for (keyword, only_one) in [("properties", true), ("patternProperties", false)] {
            below = below.saturating_add(self.add_group(named(object, keyword), only_one, measure));
        }
        for keyword in ["prefixItems", "items"] {
            below = below.saturating_add(self.add_group(list(object, keyword), true, measure));
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
        let combine = |sum: u64, next: u64| if only_one { sum.max(next) } else { sum.saturating_add(next) };
        let (mut visits, mut matching) = (0, 0);
        for child in children {
            let measure = self.measure(child);
            total.recursions = total.recursions.saturating_add(measure.recursions);
            visits = combine(visits, measure.visits());
            matching = combine(matching, measure.matching);
        }
        total.matching = total.matching.saturating_add(matching);
        visits
    }
}

/// Whether a regular expression is matched by trying one way after the other, because it looks ahead or back, refers to one of
/// its groups, or has word boundaries or groups that are not entered again. All others are matched in linear time.
fn backtracks(pattern: &str) -> bool {
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let next = after.chars().next();
        match first {
            '\\' => {
                if !in_class && next.is_some_and(|escaped| matches!(escaped, '1'..='9' | 'b' | 'B' | 'k')) {
                    return true;
                }
                rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let is_plain_group = |kind: &str| {
                    let is_name = kind.starts_with('<') && !kind.starts_with("<=") && !kind.starts_with("<!");
                    kind.starts_with(':') || is_name
                };
                if next == Some('*') || after.strip_prefix('?').is_some_and(|kind| !is_plain_group(kind)) {
                    return true;
                }
            }
            '+' | '*' | '?' | '}' if !in_class && next == Some('+') => return true,
            _ => {}
        }
        rest = after;
    }
    false
}

/// About how many places a regular expression has when its repetitions are written out. All counts saturate.
fn places(pattern: &str) -> u64 {
    let mut groups: Vec<u64> = Vec::new();
    let (mut total, mut last) = (0_u64, 0_u64);
    let mut rest = pattern.chars();
    let mut class = false;
    while let Some(next) = rest.next() {
        if next == '\\' {
            rest.next();
        }
        match next {
            ']' => class = false,
            _ if class => {}
            '(' => {
                groups.push(total.saturating_add(last));
                (total, last) = (0, 0);
            }
            ')' => {
                last = total.saturating_add(last);
                total = groups.pop().unwrap_or_default();
            }
            '{' => {
                let text = rest.as_str().split('}').next().unwrap_or_default();
                let times = text.split(',').filter_map(|number| number.trim().parse().ok()).max();
                if let Some(times) = times {
                    last = last.saturating_mul(u64::max(times, 1));
                    rest.by_ref().find(|each| *each == '}');
                }
            }
            '*' | '+' | '?' | '|' | '^' | '$' => {}
            _ => {
                class = next == '[';
                total = total.saturating_add(last);
                last = 1;
            }
        }
    }
    groups.into_iter().fold(total.saturating_add(last), u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(schema: &str) -> Complexity {
        let schema = Value::parse(schema).expect("JSON");
        measure(&schema, &SchemaIndex::new(&schema, jsonschema::Draft::Draft202012, crate::Formats::Ignored))
    }

    fn visits(schema: &str) -> u64 {
        measured(schema).visits
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
    fn patterns_that_backtrack_count_more_and_the_validation_may_run_several_times() {
        for pattern in [
            "a(?=b)",
            "a(?!b)",
            "(?<=a)b",
            "(?<!a)b",
            r"(a)\\1",
            r"(?<n>a)\\k<n>",
            r"\\ba",
            r"a\\B",
            "(?>a)",
            "a++",
            "a{2}+",
        ] {
            assert_eq!(visits(&format!(r#"{{"pattern": "{pattern}"}}"#)), 17, "{pattern}");
            assert_eq!(visits(&format!(r#"{{"patternProperties": {{"{pattern}": true}}}}"#)), 18, "{pattern}");
        }
        for pattern in ["(a|b)+", "(?:a)?", "(?<n>a)", r"\\d\\w\\s\\(?=", r"[(?=)\\b*+]", r"\\\\b", "a+b*c{2}"] {
            assert_eq!(visits(&format!(r#"{{"pattern": "{pattern}"}}"#)), 1, "{pattern}");
        }
        assert_eq!(measured(r#"{"pattern": "ab"}"#).visits_of_all_runs(), 1);
        assert_eq!(measured(r#"{"pattern": "a(?=b)"}"#).visits_of_all_runs(), 17 * 64);
    }

    #[test]
    fn repetitions_in_patterns_are_counted_as_if_they_were_written_out() {
        for (pattern, expected) in [
            ("", 0),
            ("^abc$", 3),
            (r"[a-z\]{}]{1,300}", 300),
            (r"\d{4}-\d{2}", 7),
            ("(ab{3}){100}", 400),
            ("((a{10}){10}){10}|b", 1001),
            ("a{2,}b{x}", 5),
            ("(a{9", 9),
            ("(a{4000000000}){4000000000}{9}", u64::MAX),
        ] {
            assert_eq!(places(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn unevaluated_keywords_validate_the_branches_around_them_again() {
        assert_eq!(visits(r#"{"anyOf": [true, true]}"#), 3);
        assert_eq!(visits(r#"{"anyOf": [true, true], "unevaluatedItems": true}"#), 3 + 2 + 1);
        let nested = |levels: usize| {
            let open = r#"{"unevaluatedProperties": false, "allOf": ["#;
            visits(&format!("{}true{}", open.repeat(levels), "]}".repeat(levels)))
        };
        assert!(nested(4) < 100, "{}", nested(4));
        assert!(nested(20) > MAX_VISITS, "{}", nested(20));
    }

    #[test]
    fn allowed_values_count_in_groups() {
        let list = vec!["1"; 320].join(", ");
        assert_eq!(visits(&format!(r#"{{"enum": [{list}]}}"#)), 11);
    }
}
