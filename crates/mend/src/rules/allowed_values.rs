//! Replaces a value by the allowed one that it means.

use reknit_protocol::{Path, Value};

use super::closest_match::closest_value;
use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

/// Takes the one allowed value that differs only in spelling, by a further word or by a typo.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::AllowedValues { values, got } = &fact.kind else { return None };
    let at = locate(call, fact, values, got.as_ref())?;
    let value = call.value_at(&at)?;
    if values.contains(value) {
        return None;
    }
    let closest = closest_value(value, values)?.clone();
    call.would_fit(&at, &closest).then_some(Change::Set { at, value: closest, from: Some("the allowed values") })
}

/// The parameter that the list is for: the named one, the one with the value in the fact, or the one whose value the message
/// quotes.
fn locate(call: &RejectedCall<'_>, fact: &Fact, values: &[Value], got: Option<&Value>) -> Option<Path> {
    if let Some((at, _)) = call.located_value(fact) {
        return Some(at);
    }
    if let Some(got) = got {
        return call.only_parameter(|value| value == got);
    }
    let is_quoted = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && quotes(call.message, text));
    call.only_parameter(|value| is_quoted(value) && !values.contains(value))
}

/// Whether a message contains a text in quotes.
fn quotes(message: &str, text: &str) -> bool {
    [('`', '`'), ('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’')]
        .iter()
        .any(|(open, close)| message.contains(&format!("{open}{text}{close}")))
}
