//! A value that the error says must be there.

use super::{Case, Change};
use crate::facts::{Fact, Says};

/// Takes the value that the error expects at a field, unless the error speaks of another value than the one sent.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Expected { value: expected, got } = &fact.says else { return None };
    let (at, value) = case.value_of(fact)?;
    if got.as_ref().is_some_and(|got| got != value) || value == expected {
        return None;
    }
    let rivals = case.facts.iter().filter(|other| other.field == fact.field).any(|other| match &other.says {
        Says::Expected { value, .. } => value != expected,
        _ => false,
    });
    (!rivals && case.would_fit(&at, expected)).then(|| Change::Set {
        at,
        value: expected.clone(),
        from: Some("the error"),
    })
}
