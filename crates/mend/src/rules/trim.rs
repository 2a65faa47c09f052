//! Trims white space around a text.

use reknit_protocol::Value;

use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

/// Trims a text that the error is about.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let about_text = matches!(
        fact.kind,
        FactKind::Invalid
            | FactKind::NotFound { .. }
            | FactKind::Format { .. }
            | FactKind::Length { .. }
            | FactKind::AllowedValues { .. }
    );
    let at = match (&fact.field, &fact.kind) {
        _ if !about_text => return None,
        (Some(_), _) => call.located_value(fact)?.0,
        (None, FactKind::NotFound { value: Some(value) }) => call.only_parameter(|held| held == value)?,
        (None, _) => return None,
    };
    let text = call.value_at(&at)?.as_str()?;
    let trimmed = text.trim();
    (trimmed != text && !trimmed.is_empty()).then(|| Change::Set { at, value: Value::from(trimmed), from: None })
}
