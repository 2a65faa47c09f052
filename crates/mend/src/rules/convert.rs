//! A value of another type that says the same.

use reknit_protocol::{Object, Value};
use reknit_salvage::{Schema, fit};

use super::{Case, Change};
use crate::facts::{Fact, Says, TypeName};

/// Converts a value to the type that is wanted, if nothing is lost by it.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::WrongType { expected, got } = &fact.says else { return None };
    let at = match (&fact.field, got) {
        (Some(_), _) => case.value_of(fact)?.0,
        // The error shows the value and not its name: it must have only one.
        (None, Some(got)) => {
            let [only] = <[_; 1]>::try_from(case.holders(got)).ok()?;
            only
        }
        (None, None) => return None,
    };
    // A list or an object around a value would be our own making.
    if matches!(expected, TypeName::Array | TypeName::Object) {
        return None;
    }
    let wanted = Value::Object(Object::from([("type", Value::from(expected.as_str()))]));
    let schema = Schema::compile(&wanted).ok()?;
    let value = case.at(&at)?;
    // A list of one says no more than the one.
    let single = match value {
        Value::Array(items) => match items.as_slice() {
            [only] => only,
            _ => return None,
        },
        value => value,
    };
    let fitted = fit(single.clone(), &schema).ok()?;
    (fitted.value != *value).then_some(Change::Set { at, value: fitted.value, from: None })
}
