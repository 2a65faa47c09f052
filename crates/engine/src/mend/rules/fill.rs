//! A value that must be there and is not.

use reknit_protocol::Value;

use super::held::{by_request, by_results, by_schema};
use super::{Case, Change, parent_of};
use crate::mend::facts::{Fact, Says};

/// Takes the one value that the schema, a result or the request has for a field that is missing or empty.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    if !matches!(fact.says, Says::Missing | Says::Empty) {
        return None;
    }
    let at = case.place(fact.field.as_ref()?)?;
    let (parent, name) = parent_of(&at)?;
    // What the plan takes from a result is not replaced by a guess.
    if case.referenced.contains(&name) || !is_open(case.at(&at)) {
        return None;
    }
    let outer = parent.is_root();
    let held = [
        (by_schema(case, &at), "the schema"),
        (by_results(case, &name).filter(|_| outer), "a result"),
        (by_request(case, &name).filter(|_| outer), "the request"),
    ];
    let fitting = held.into_iter().filter_map(|(value, from)| Some((value?, from)));
    let (value, from) = fitting.into_iter().find(|(value, _)| !is_open(Some(value)) && case.would_fit(&at, value))?;
    Some(Change::Set { at, value, from: Some(from) })
}

/// Whether there is nothing there that could be overwritten.
fn is_open(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}
