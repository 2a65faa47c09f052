//! Blanks around a text.

use reknit_protocol::Value;

use super::{Case, Change};
use crate::facts::{Fact, Says};

/// Takes the blanks from both ends of a text that the error complains about.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let about_text = matches!(
        fact.says,
        Says::Invalid | Says::NotFound { .. } | Says::Format { .. } | Says::Length { .. } | Says::Allowed { .. }
    );
    let at = match (&fact.field, &fact.says) {
        _ if !about_text => return None,
        (Some(_), _) => case.value_of(fact)?.0,
        (None, Says::NotFound { value: Some(value) }) => {
            let [only] = <[_; 1]>::try_from(case.holders(value)).ok()?;
            only
        }
        (None, _) => return None,
    };
    let text = case.at(&at)?.as_str()?;
    let trimmed = text.trim();
    (trimmed != text && !trimmed.is_empty()).then(|| Change::Set { at, value: Value::from(trimmed), from: None })
}
