//! Takes the value that the error suggests.

use reknit_protocol::{Path, Value};

use super::closest_match::closest_value;
use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

/// Takes the suggested value if it is the only suggestion and similar to the value that was sent.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Suggestion { value: suggested } = &fact.kind else { return None };
    let has_rival = call.has_rival(fact, |other| matches!(other, FactKind::Suggestion { value } if value != suggested));
    let at = locate(call, fact)?;
    let value = call.value_at(&at)?;
    if has_rival || value == suggested {
        return None;
    }
    let value = closest_value(value, std::slice::from_ref(suggested))?.clone();
    call.would_fit(&at, &value).then_some(Change::Set { at, value, from: Some("the error") })
}

/// The named field, or the parameter with the value that was not found.
fn locate(call: &RejectedCall<'_>, fact: &Fact) -> Option<Path> {
    if let Some((at, _)) = call.located_value(fact) {
        return Some(at);
    }
    let mut not_found: Vec<&Value> = call
        .facts
        .iter()
        .filter_map(|other| match &other.kind {
            FactKind::NotFound { value } => value.as_ref(),
            _ => None,
        })
        .collect();
    not_found.dedup();
    let [only] = not_found.as_slice() else { return None };
    call.only_parameter(|value| value == *only)
}
