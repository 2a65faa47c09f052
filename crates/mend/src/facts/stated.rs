//! Facts that stand in an object under a name of their own: `{"field": "units", "allowed": ["metric", "imperial"]}`.

use reknit_protocol::{Number, Object, Value};
use reknit_salvage::Bound;

use super::fact::is_stamp;
use super::phrase::facts_in;
use super::{Fact, Field, Says, TypeName};

/// Names under which the field is named.
const FIELD: [&str; 8] = ["field", "parameter", "param", "property", "argument", "pointer", "path", "missingProperty"];
const ALLOWED: [&str; 9] = [
    "allowed",
    "allowedValues",
    "allowed_values",
    "options",
    "enum",
    "choices",
    "valid_values",
    "accepted",
    "enum_values",
];
/// Beginnings of names under which values are listed: `known_currencies`.
const LISTED: [&str; 6] = ["known_", "valid_", "supported_", "available_", "allowed_", "accepted_"];
const MEANT: [&str; 7] =
    ["did_you_mean", "didYouMean", "suggestion", "suggestions", "suggested", "suggested_value", "closest_match"];
const MISSING: [&str; 5] = ["missing", "missing_fields", "missingFields", "missing_field", "required_fields"];
const UNKNOWN: [&str; 5] = ["unknown_fields", "unknown_field", "additionalProperty", "unexpected_fields", "keys"];
const KNOWN: [&str; 3] = ["fields", "known_fields", "valid_fields"];
const GOT: [&str; 6] = ["actual", "got", "received", "rejectedValue", "rejected_value", "input_value"];
const LIMITS: [(&str, Bound); 14] = [
    ("gt", Bound::MoreThan),
    ("ge", Bound::AtLeast),
    ("gte", Bound::AtLeast),
    ("min", Bound::AtLeast),
    ("minimum", Bound::AtLeast),
    ("minValue", Bound::AtLeast),
    ("exclusiveMinimum", Bound::MoreThan),
    ("lt", Bound::LessThan),
    ("le", Bound::AtMost),
    ("lte", Bound::AtMost),
    ("max", Bound::AtMost),
    ("maximum", Bound::AtMost),
    ("maxValue", Bound::AtMost),
    ("exclusiveMaximum", Bound::LessThan),
];
/// Beginnings of names under which the value stands that would have been right: `current_version`.
const NEWER: [&str; 2] = ["current_", "latest_"];

/// The field that an object says it is about.
pub(super) fn field_of(object: &Object) -> Option<Field> {
    FIELD.iter().find_map(|name| Field::of_value(object.get(name)?))
}

/// The facts that an object states; those that name no other field are about `field`.
pub(super) fn stated(object: &Object, field: Option<&Field>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let about = |says| Fact::new(field.cloned(), says);
    let first = |names: &[&str]| names.iter().find_map(|name| object.get(name));
    let got = first(&GOT).filter(|value| is_plain(value)).cloned();
    for (names, says) in [(&MISSING, Says::Missing), (&UNKNOWN, Says::Unknown { known: Vec::new() })] {
        let listed = first(names).map(texts).unwrap_or_default();
        facts.extend(
            listed.iter().filter_map(|name| Field::parse(name)).map(|name| Fact::new(Some(name), says.clone())),
        );
    }
    if let Some(values) = first(&ALLOWED).and_then(list) {
        facts.push(about(Says::Allowed { values, got: got.clone() }));
    }
    for (key, value) in object {
        facts.extend(by_beginning(key, value, field));
    }
    for (key, side) in LIMITS {
        facts.extend(object.get(key).and_then(number).map(|limit| about(Says::Bound { side, limit })));
    }
    facts.extend(first(&["expected"]).into_iter().flat_map(|value| expected(value, field, got.as_ref())));
    let known = first(&KNOWN).map(texts).unwrap_or_default();
    if !known.is_empty() && field.is_some() {
        facts.push(about(Says::Unknown { known }));
    }
    facts.extend(first(&MEANT).into_iter().flat_map(plain_values).map(|value| about(Says::Meant { value })));
    let (form, example) = (first(&["format", "pattern"]).and_then(Value::as_str), first(&["example"]));
    if form.is_some() || example.is_some() {
        let example = example.filter(|value| is_plain(value)).cloned();
        facts.push(about(Says::Format { form: form.map(str::to_owned), example }));
    }
    for text in ["hint", "hints", "help"].iter().filter_map(|name| object.get(name)?.as_str()) {
        facts.push(about(Says::Hint { text: text.to_owned() }));
        facts.extend(facts_in(text, field));
    }
    facts.extend(object.get("problems").map(texts).unwrap_or_default().iter().flat_map(|text| facts_in(text, None)));
    facts
}

fn by_beginning(key: &str, value: &Value, field: Option<&Field>) -> Option<Fact> {
    if let Some(name) = LISTED.iter().find_map(|beginning| key.strip_prefix(beginning)) {
        if ALLOWED.contains(&key) || KNOWN.contains(&key) || key == "allowed_values" {
            return None;
        }
        let values = list(value)?;
        // `known_symbols` lists values for `symbol`, unless the error names the field itself.
        let named = name.strip_suffix('s').unwrap_or(name);
        let field = field.cloned().or_else(|| Field::parse(named));
        return Some(Fact::new(field, Says::Allowed { values, got: None }));
    }
    // The current price is no advice to offer it; the current version is.
    let newer = NEWER.iter().find_map(|beginning| key.strip_prefix(beginning)).filter(|name| is_stamp(name));
    let name = newer.or_else(|| key.strip_prefix("expected_"))?;
    let value = Some(value).filter(|value| is_plain(value))?.clone();
    Some(Fact::new(Field::parse(name), Says::Expected { value, got: None }))
}

/// What stands under `expected`: a type, values, or words.
fn expected(value: &Value, field: Option<&Field>, got: Option<&Value>) -> Vec<Fact> {
    let about = |says| vec![Fact::new(field.cloned(), says)];
    match value {
        Value::Array(_) => {
            list(value).map_or_else(Vec::new, |values| about(Says::Allowed { values, got: got.cloned() }))
        }
        Value::String(word) => match TypeName::of(word) {
            Some(expected) => about(Says::WrongType { expected, got: None }),
            None => facts_in(&format!("must be {word}"), field),
        },
        Value::Number(_) => about(Says::Expected { value: value.clone(), got: got.cloned() }),
        _ => Vec::new(),
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => Number::parse(text).ok(),
        _ => None,
    }
}

/// A list of plain values, one at least.
fn list(value: &Value) -> Option<Vec<Value>> {
    let values = value.as_array()?;
    (!values.is_empty() && values.iter().all(is_plain)).then(|| values.to_vec())
}

fn plain_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(_) => list(value).unwrap_or_default(),
        value if is_plain(value) => vec![value.clone()],
        _ => Vec::new(),
    }
}

/// A text or a list of texts.
pub(super) fn texts(value: &Value) -> Vec<String> {
    plain_values(value).iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}
