//! A value that the error offers instead.

use reknit_protocol::{Path, Value};

use super::alike::value_meant;
use super::{Case, Change};
use crate::facts::{Fact, Says};

/// Takes the value that the error offers, if it is the only one and like the one that was sent.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Meant { value: meant } = &fact.says else { return None };
    let rivals = case.facts.iter().filter(|other| other.field == fact.field).any(|other| match &other.says {
        Says::Meant { value } => value != meant,
        _ => false,
    });
    let at = place(case, fact)?;
    let value = case.at(&at)?;
    if rivals || value == meant {
        return None;
    }
    let meant = value_meant(value, std::slice::from_ref(meant))?.clone();
    case.would_fit(&at, &meant).then_some(Change::Set { at, value: meant, from: Some("the error") })
}

/// The field that is named, or the one that holds what was not found.
fn place(case: &Case<'_>, fact: &Fact) -> Option<Path> {
    if let Some((at, _)) = case.value_of(fact) {
        return Some(at);
    }
    let mut missed: Vec<&Value> = case
        .facts
        .iter()
        .filter_map(|other| match &other.says {
            Says::NotFound { value } => value.as_ref(),
            _ => None,
        })
        .collect();
    missed.dedup();
    let [only] = missed.as_slice() else { return None };
    let [at] = <[_; 1]>::try_from(case.holders(only)).ok()?;
    Some(at)
}
