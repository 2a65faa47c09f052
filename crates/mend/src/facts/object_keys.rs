//! Facts under well-known keys of an object: `{"field": "units", "allowed": ["metric", "imperial"]}`.

use reknit_protocol::{Object, Value};
use reknit_salvage::Comparison;

use super::fact::{is_version_field, parse_type};
use super::phrase::facts_in;
use super::{Fact, FactKind, Field};
use crate::{is_listed, number_of};

/// Keys of the field that the error is about.
const FIELD: &str = "field parameter param property argument pointer path missingProperty";
const ALLOWED: &str = "allowed allowedValues allowed_values options enum choices valid_values accepted enum_values";
/// Prefixes of keys that list allowed values: `known_currencies`.
const ALLOWED_PREFIXES: &str = "known_ valid_ supported_ available_ allowed_ accepted_";
const SUGGESTED: &str = "did_you_mean didYouMean suggestion suggestions suggested suggested_value closest_match";
const MISSING_FIELDS: &str = "missing missing_fields missingFields missing_field required_fields";
const UNKNOWN_FIELDS: &str = "unknown_fields unknown_field additionalProperty unexpected_fields keys";
const KNOWN_FIELDS: &str = "fields known_fields valid_fields";
const GOT: &str = "actual got received rejectedValue rejected_value input_value";
const LIMITS: [(&str, Comparison); 6] = [
    ("gt", Comparison::MoreThan),
    ("ge gte min minimum minValue", Comparison::AtLeast),
    ("exclusiveMinimum", Comparison::MoreThan),
    ("lt", Comparison::LessThan),
    ("le lte max maximum maxValue", Comparison::AtMost),
    ("exclusiveMaximum", Comparison::LessThan),
];
/// Prefixes of keys that hold the value that would have been right: `current_version`.
const CURRENT_PREFIXES: &str = "current_ latest_";

pub(crate) fn named_field(object: &Object) -> Option<Field> {
    FIELD.split(' ').find_map(|name| Field::from_value(object.get(name)?))
}

/// The facts that an object states. Those that name no field of their own are about `field`.
pub(crate) fn facts_in_object(object: &Object, field: Option<&Field>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let about = |kind| Fact::new(field.cloned(), kind);
    let first = |names: &str| names.split(' ').find_map(|name| object.get(name));
    let got = first(GOT).filter(|value| is_scalar(value)).cloned();
    for (names, kind) in
        [(MISSING_FIELDS, FactKind::Missing), (UNKNOWN_FIELDS, FactKind::UnknownField { known: Vec::new() })]
    {
        let listed = first(names).map(strings).unwrap_or_default();
        facts.extend(
            listed.iter().filter_map(|name| Field::parse(name)).map(|name| Fact::new(Some(name), kind.clone())),
        );
    }
    if let Some(values) = first(ALLOWED).and_then(scalar_list) {
        facts.push(about(FactKind::AllowedValues { values, got: got.clone() }));
    }
    for (key, value) in object {
        facts.extend(fact_by_prefix(key, value, field));
    }
    for (keys, side) in LIMITS {
        let limits = keys.split(' ').filter_map(|key| number_of(object.get(key)?));
        facts.extend(limits.map(|limit| about(FactKind::Bound { side, limit })));
    }
    facts.extend(object.get("expected").into_iter().flat_map(|value| expected(value, field, got.as_ref())));
    let known = first(KNOWN_FIELDS).map(strings).unwrap_or_default();
    if !known.is_empty() && field.is_some() {
        facts.push(about(FactKind::UnknownField { known }));
    }
    facts.extend(first(SUGGESTED).into_iter().flat_map(scalars).map(|value| about(FactKind::Suggestion { value })));
    let (format, example) = (first("format pattern").and_then(Value::as_str), object.get("example"));
    if format.is_some() || example.is_some() {
        let example = example.filter(|value| is_scalar(value)).cloned();
        facts.push(about(FactKind::Format { format: format.map(str::to_owned), example }));
    }
    for text in ["hint", "hints", "help"].iter().filter_map(|name| object.get(name)?.as_str()) {
        facts.push(about(FactKind::Hint { text: text.to_owned() }));
        facts.extend(facts_in(text, field));
    }
    facts.extend(object.get("problems").map(strings).unwrap_or_default().iter().flat_map(|text| facts_in(text, None)));
    facts
}

fn fact_by_prefix(key: &str, value: &Value, field: Option<&Field>) -> Option<Fact> {
    if let Some(name) = ALLOWED_PREFIXES.split(' ').find_map(|prefix| key.strip_prefix(prefix)) {
        if is_listed(ALLOWED, key) || is_listed(KNOWN_FIELDS, key) {
            return None;
        }
        let values = scalar_list(value)?;
        // `known_symbols` lists the values of `symbol`, unless the error names a field.
        let singular = name.strip_suffix('s').unwrap_or(name);
        let field = field.cloned().or_else(|| Field::parse(singular));
        return Some(Fact::new(field, FactKind::AllowedValues { values, got: None }));
    }
    // A tool that states the current price does not ask for it; one that states the current version does.
    let current =
        CURRENT_PREFIXES.split(' ').find_map(|prefix| key.strip_prefix(prefix)).filter(|name| is_version_field(name));
    let name = current.or_else(|| key.strip_prefix("expected_"))?;
    let value = Some(value).filter(|value| is_scalar(value))?.clone();
    Some(Fact::new(Field::parse(name), FactKind::ExpectedValue { value, got: None }))
}

/// The facts under the key `expected`: a type, values, or a phrase.
fn expected(value: &Value, field: Option<&Field>, got: Option<&Value>) -> Vec<Fact> {
    let about = |kind| vec![Fact::new(field.cloned(), kind)];
    match value {
        Value::Array(_) => scalar_list(value)
            .map_or_else(Vec::new, |values| about(FactKind::AllowedValues { values, got: got.cloned() })),
        Value::String(word) => match parse_type(word) {
            Some(expected) => about(FactKind::WrongType { expected, got: None }),
            None => facts_in(&format!("must be {word}"), field),
        },
        Value::Number(_) => about(FactKind::ExpectedValue { value: value.clone(), got: got.cloned() }),
        _ => Vec::new(),
    }
}

pub(crate) fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// An array of scalars, at least one.
fn scalar_list(value: &Value) -> Option<Vec<Value>> {
    let values = value.as_array()?;
    (!values.is_empty() && values.iter().all(is_scalar)).then(|| values.to_vec())
}

fn scalars(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(_) => scalar_list(value).unwrap_or_default(),
        value if is_scalar(value) => vec![value.clone()],
        _ => Vec::new(),
    }
}

/// A string, or the strings of an array.
pub(super) fn strings(value: &Value) -> Vec<String> {
    scalars(value).iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}
