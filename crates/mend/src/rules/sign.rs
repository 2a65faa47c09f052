//! A number with a minus too many.

use reknit_protocol::{Number, Value};
use reknit_salvage::Bound;

use super::{Case, Change};
use crate::facts::{Fact, Says};

/// Takes the minus from a number that must not be negative, if the request writes the number without it.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Bound { side: Bound::AtLeast | Bound::MoreThan, limit } = &fact.says else { return None };
    let (at, value) = case.value_of(fact)?;
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
    (case.request.iter().any(is_written) && case.would_fit(&at, &value)).then_some(Change::Set {
        at,
        value,
        from: Some("the request"),
    })
}
