//! Removes a minus sign that should not be there.

use reknit_protocol::{Number, Value};
use reknit_salvage::Comparison;

use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

/// Removes the minus sign of a number that must not be negative, if the request has the number without it.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Bound { side: Comparison::AtLeast | Comparison::MoreThan, limit } = &fact.kind else { return None };
    let (at, value) = call.located_value(fact)?;
    let text = value.as_number()?.to_string();
    let positive = Number::parse(text.strip_prefix('-')?).ok()?;
    if *limit < Number::default() {
        return None;
    }
    let is_written = |text: &&str| {
        let words =
            text.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '$' | '€'));
        words
            .filter_map(|word| Number::parse(word.trim_end_matches(['.', '?', '!', ':'])).ok())
            .any(|number| number == positive)
    };
    let value = Value::Number(positive.clone());
    (call.request.iter().any(is_written) && call.would_fit(&at, &value)).then_some(Change::Set {
        at,
        value,
        from: Some("the request"),
    })
}
