//! Converts a value to the expected type without loss.

use reknit_protocol::{Object, Value};
use reknit_salvage::{Schema, SchemaType, fit};

use super::{Change, RejectedCall, only};
use crate::facts::{Fact, FactKind};

/// Converts a value to the expected type if that loses nothing.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
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
