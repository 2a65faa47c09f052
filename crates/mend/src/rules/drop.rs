//! A field that the tool does not know and that means nothing else.

use super::spelling::is_nothing;
use super::{Case, Change, parent_of};
use crate::facts::{Fact, Says};

/// Leaves out what the error calls unknown, if the schema does not declare it and no field that is still free could be
/// meant by it.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Unknown { known } = &fact.says else { return None };
    let (at, value) = case.stranger(fact)?;
    let (parent, name) = parent_of(&at)?;
    if case.is_declared(&parent, &name) {
        return None;
    }
    let declared = case.declared(&parent);
    let names: Vec<&str> = known.iter().map(String::as_str).chain(declared.iter().flatten().copied()).collect();
    // Nobody says what else there is: the value may be a misnamed one that counts.
    if names.is_empty() && !is_nothing(value) {
        return None;
    }
    let is_free = |name: &str| case.at(&parent.key(name)).is_none();
    let is_meant = |name: &&str| is_free(name) && case.would_fit(&parent.key(name), value);
    (is_nothing(value) || !names.iter().any(is_meant)).then_some(Change::Remove { at })
}
