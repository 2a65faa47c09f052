//! A value that must be there and is not.

use reknit_protocol::Value;

use super::held::{by_default, by_request, by_results, by_schema};
use super::spelling::{THE_SCHEMA, is_same};
use super::{Case, Change, parent_of};
use crate::facts::{Fact, Says};

/// Takes the one value that schema, results and request have for a field that is missing or empty.
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
        (by_schema(case, &at), THE_SCHEMA),
        (by_results(case, &name).filter(|_| outer), "a result"),
        (by_request(case, &name).filter(|_| outer), "the request"),
        (by_default(case, &at), "the default of the schema"),
    ];
    let held: Vec<(Value, &str)> = held.into_iter().filter_map(|(value, from)| Some((value?, from))).collect();
    let (first, _) = held.first()?;
    // Who is right where two differ is not for code to say.
    if held.iter().any(|(value, _)| !is_same(first, value) && !is_same(value, first)) {
        return None;
    }
    let (value, from) = held.into_iter().find(|(value, _)| !is_open(Some(value)) && case.would_fit(&at, value))?;
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
