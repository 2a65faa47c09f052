//! Takes the value that the error expects.

use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

/// Takes the expected value of a field, unless the error shows another value than the one that was sent.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::ExpectedValue { value: expected, got } = &fact.kind else { return None };
    let (at, value) = call.located_value(fact)?;
    if got.as_ref().is_some_and(|got| got != value) || value == expected {
        return None;
    }
    let has_rival =
        call.has_rival(fact, |other| matches!(other, FactKind::ExpectedValue { value, .. } if value != expected));
    (!has_rival && call.would_fit(&at, expected)).then(|| Change::Set {
        at,
        value: expected.clone(),
        from: Some("the error"),
    })
}
