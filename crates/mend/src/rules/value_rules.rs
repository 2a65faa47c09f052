//! Rules that correct a value by what the error states about it, and otherwise change nothing.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Value};
use reknit_salvage::{Schema, SchemaType, fit};

use super::closest_match::closest_value;
use super::nested_values::collect_values;
use super::{Change, RejectedCall, only, parent_of};
use crate::facts::{Fact, FactKind};

/// Takes the one allowed value that differs only in spelling, by a further word or by a typo.
pub(super) fn allowed_value(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::AllowedValues { values, got } = &fact.kind else { return None };
    let at = locate_allowed(call, fact, values, got.as_ref())?;
    let value = call.value_at(&at)?;
    if values.contains(value) {
        return None;
    }
    let closest = closest_value(value, values)?.clone();
    call.set(at, closest, "the allowed values")
}

/// The parameter that the list is for: the named one, the one with the value in the fact, or the one whose value the message
/// quotes.
fn locate_allowed(call: &RejectedCall<'_>, fact: &Fact, values: &[Value], got: Option<&Value>) -> Option<Path> {
    if let Some((at, _)) = call.located_value(fact) {
        return Some(at);
    }
    if let Some(got) = got {
        return call.only_parameter(|value| value == got);
    }
    let is_quoted = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && quotes(call.message, text));
    call.only_parameter(|value| is_quoted(value) && !values.contains(value))
}

fn quotes(message: &str, text: &str) -> bool {
    [('`', '`'), ('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’')]
        .iter()
        .any(|(open, close)| message.contains(&format!("{open}{text}{close}")))
}

/// Takes the suggested value if it is the only suggestion and similar to the value that was sent.
pub(super) fn suggested_value(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Suggestion { value: suggested } = &fact.kind else { return None };
    let has_rival = call.has_rival(fact, |other| matches!(other, FactKind::Suggestion { value } if value != suggested));
    let at = locate_not_found(call, fact)?;
    let value = call.value_at(&at)?;
    if has_rival || value == suggested {
        return None;
    }
    let value = closest_value(value, std::slice::from_ref(suggested))?.clone();
    call.set(at, value, "the error")
}

/// The named field, or the parameter with the value that was not found.
fn locate_not_found(call: &RejectedCall<'_>, fact: &Fact) -> Option<Path> {
    if let Some((at, _)) = call.located_value(fact) {
        return Some(at);
    }
    let facts = call.facts.iter().filter(|other| matches!(other.kind, FactKind::NotFound { .. }));
    let mut not_found: Vec<&Value> = facts.filter_map(Fact::shown_value).collect();
    not_found.dedup();
    let [only] = not_found.as_slice() else { return None };
    call.only_parameter(|value| value == *only)
}

/// Takes the expected value of a field, unless the error shows another value than the one that was sent.
pub(super) fn expected_value(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::ExpectedValue { value: expected, got } = &fact.kind else { return None };
    let (at, value) = call.located_value(fact)?;
    if got.as_ref().is_some_and(|got| got != value) || value == expected {
        return None;
    }
    let has_rival =
        call.has_rival(fact, |other| matches!(other, FactKind::ExpectedValue { value, .. } if value != expected));
    if has_rival { None } else { call.set(at, expected.clone(), "the error") }
}

/// Trims a text that the error is about.
pub(super) fn trim(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let about_text = matches!(
        fact.kind,
        FactKind::Invalid
            | FactKind::NotFound { .. }
            | FactKind::Format { .. }
            | FactKind::Length { .. }
            | FactKind::AllowedValues { .. }
    );
    let at = match (&fact.field, &fact.kind) {
        _ if !about_text => return None,
        (Some(_), _) => call.located_value(fact)?.0,
        (None, FactKind::NotFound { value: Some(value) }) => call.only_parameter(|held| held == value)?,
        (None, _) => return None,
    };
    let text = call.value_at(&at)?.as_str()?;
    let trimmed = text.trim();
    (trimmed != text && !trimmed.is_empty()).then(|| Change::Set { at, value: Value::from(trimmed), from: None })
}

/// Converts a value to the expected type if that loses nothing.
pub(super) fn convert_type(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::WrongType { expected, got } = &fact.kind else { return None };
    let at = match (&fact.field, got) {
        (Some(_), _) => call.located_value(fact)?.0,
        // The error shows a value and no name: only one parameter may have it.
        (None, Some(got)) => call.only_parameter(|value| value == got)?,
        (None, None) => return None,
    };
    // Wrapping a value in an array or object would invent structure.
    if matches!(expected, SchemaType::Array | SchemaType::Object) {
        return None;
    }
    let wanted = Value::Object(Object::from([("type", Value::from(expected.as_str()))]));
    let schema = Schema::compile(&wanted).ok()?;
    let value = call.value_at(&at)?;
    // An array of one item is converted like the item.
    let single = match value {
        Value::Array(items) => only(items.iter())?,
        value => value,
    };
    let fitted = fit(single.clone(), &schema).ok()?;
    (fitted.value != *value).then_some(Change::Set { at, value: fitted.value, from: None })
}

/// If an identifier is not found, takes the one value that the results have under the same name with the same digits:
/// `4521` for `ORD-4521`.
pub(super) fn same_digits(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::NotFound { value: shown } = &fact.kind else { return None };
    let by_value = || call.only_parameter(|value| Some(value) == shown.as_ref());
    let at = call.located_value(fact).map(|(at, _)| at).or_else(by_value)?;
    let sent = call.value_at(&at)?;
    let (_, name) = parent_of(&at)?;
    let digits = digits(sent).filter(|digits| !digits.is_empty())?;
    let mut found: Vec<&Value> = Vec::new();
    for (path, value) in call.results.iter().flat_map(|(_, body)| collect_values(vec![(Path::root(), body)])) {
        let is_named = parent_of(&path).is_some_and(|(_, key)| are_alike(&key, &name));
        if is_named && self::digits(value).as_ref() == Some(&digits) && !found.contains(&value) {
            found.push(value);
        }
    }
    let value = only(found.into_iter()).filter(|value| *value != sent)?.clone();
    call.set(at, value, "a result")
}

/// The digits of an identifier; `None` for a value that is neither text nor number.
fn digits(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text.chars().filter(char::is_ascii_digit).collect())
}
