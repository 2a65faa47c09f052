//! Fills in a required value that is missing.

use reknit_protocol::Value;

use super::spelling::{THE_SCHEMA, is_same_value};
use super::value_sources::{only_value_in_request, only_value_in_results, only_value_in_schema};
use super::{Change, RejectedCall, parent_of};
use crate::facts::{Fact, FactKind};

/// The source of a value that the schema gives as default.
pub(super) const THE_DEFAULT: &str = "the default of the schema";

/// Takes the one value that schema, results and request give for a missing or empty field.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    if !matches!(fact.kind, FactKind::Missing | FactKind::Empty) {
        return None;
    }
    let at = call.locate(fact.field.as_ref()?)?;
    let (parent, name) = parent_of(&at)?;
    // A value that the plan takes from a result is never replaced.
    if call.referenced.contains(&name) || !is_vacant(call.value_at(&at)) {
        return None;
    }
    let is_top_level = parent.is_root();
    let candidates = [
        (only_value_in_schema(call, &at), THE_SCHEMA),
        (only_value_in_results(call, &name).filter(|_| is_top_level), "a result"),
        (only_value_in_request(call, &name).filter(|_| is_top_level), "the request"),
        (call.schema_at(&at).and_then(|schema| schema.get("default")).cloned(), THE_DEFAULT),
    ];
    let candidates: Vec<(Value, &str)> =
        candidates.into_iter().filter_map(|(value, from)| Some((value?, from))).collect();
    let (first, _) = candidates.first()?;
    // If two sources differ, code cannot know which one is right.
    if candidates.iter().any(|(value, _)| !is_same_value(first, value) && !is_same_value(value, first)) {
        return None;
    }
    let (value, from) =
        candidates.into_iter().find(|(value, _)| !is_vacant(Some(value)) && call.would_fit(&at, value))?;
    Some(Change::Set { at, value, from: Some(from) })
}

/// Whether there is no value that filling in would overwrite.
fn is_vacant(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}
