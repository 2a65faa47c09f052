//! Drops a field that the tool does not know.

use super::spelling::is_empty_value;
use super::{Change, RejectedCall, parent_of};
use crate::facts::{Fact, FactKind};

/// Drops an unknown field, unless the schema declares it or its value could belong to a known field that has none.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::UnknownField { known } = &fact.kind else { return None };
    let (at, value) = call.unknown_field(fact)?;
    let (parent, name) = parent_of(&at)?;
    if call.is_declared(&parent, &name) {
        return None;
    }
    let declared = call.declared_names(&parent);
    let names: Vec<&str> = known.iter().map(String::as_str).chain(declared.iter().flatten().copied()).collect();
    // Without a list of known names the value may belong to a field under another name.
    if names.is_empty() && !is_empty_value(value) {
        return None;
    }
    let is_free = |name: &str| call.value_at(&parent.key(name)).is_none();
    let could_hold = |name: &&str| is_free(name) && call.would_fit(&parent.key(name), value);
    (is_empty_value(value) || !names.iter().any(could_hold)).then_some(Change::Remove { at })
}
