//! Moves a value from a name that the tool does not know to a missing one, or drops it.

use reknit_protocol::spelling::{are_alike, folded};
use reknit_protocol::{Path, Value};

use super::closest_match::{closest_name, only_match};
use super::spelling::is_empty_value;
use super::{Change, RejectedCall, only, parent_of};
use crate::facts::{Fact, FactKind};
use crate::value_kind::words_of;

/// Moves the value of an unknown field if the error names the right field, or exactly one missing name is similar.
pub(super) fn rename_field(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    match &fact.kind {
        FactKind::UnknownField { known } => rename_unknown(call, fact, known),
        FactKind::Missing => rename_to_missing(call, fact),
        _ => None,
    }
}

fn rename_unknown(call: &RejectedCall<'_>, fact: &Fact, known: &[String]) -> Option<Change> {
    let (at, value) = call.unknown_field(fact)?;
    let (parent, name) = parent_of(&at)?;
    let to = name_in_error(call, fact, &parent, known).or_else(|| {
        let missing = missing_names(call, &parent);
        matching_missing_name(call, &parent, &name, &missing, &unknown_names(call, &parent))
    })?;
    rename(call, at, &parent, value, to)
}

fn rename_to_missing(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let at = call.locate(fact.field.as_ref()?)?;
    let (parent, wanted) = parent_of(&at)?;
    let object = call.object_at(&parent)?;
    let in_error = fact.field.as_ref()?.segments().last()?;
    if let Some(value) = object.get(&wanted) {
        // The error spells the name differently, and no schema says that the spelling that was sent is right.
        let is_declared = call.declared_names(&parent).is_some_and(|names| names.contains(&wanted.as_str()));
        let is_misspelt = *in_error != wanted && !is_declared && !object.contains_key(in_error);
        return is_misspelt.then(|| rename(call, at.clone(), &parent, value, in_error.clone())).flatten();
    }
    let unknown = unknown_names(call, &parent);
    let missing = missing_names(call, &parent);
    let is_match = |name: &&UnknownName| {
        matching_missing_name(call, &parent, &name.name, &missing, &unknown) == Some(wanted.clone())
    };
    let from = only(unknown.iter().filter(is_match))?;
    rename(call, parent.key(&from.name), &parent, object.get(&from.name)?, wanted)
}

/// The name that the error gives instead of an unknown one.
fn name_in_error(call: &RejectedCall<'_>, fact: &Fact, parent: &Path, known: &[String]) -> Option<String> {
    let mut suggested: Vec<&str> = call
        .facts
        .iter()
        .filter(|other| other.field == fact.field)
        .filter_map(|other| match &other.kind {
            FactKind::Suggestion { value } => value.as_str(),
            _ => None,
        })
        .collect();
    suggested.dedup();
    let object = call.object_at(parent)?;
    let free: Vec<&str> = known.iter().map(String::as_str).filter(|name| !object.contains_key(name)).collect();
    match (suggested.as_slice(), free.as_slice()) {
        ([only], _) if !object.contains_key(only) => Some((*only).to_owned()),
        // If the error lists several names, the right one must be similar.
        (_, [only]) if known.len() == 1 => Some((*only).to_owned()),
        (_, free) => {
            let name = fact.field.as_ref()?.segments().last()?;
            similar_name(name, free, object.get(name), true).map(str::to_owned)
        }
    }
}

/// The required names that are absent, according to the error or the schema.
fn missing_names(call: &RejectedCall<'_>, parent: &Path) -> Vec<String> {
    let mut names = call.missing_required(parent);
    let in_error =
        call.facts.iter().filter(|fact| fact.kind == FactKind::Missing).filter_map(|fact| fact.field.as_ref());
    for at in in_error.filter_map(|field| call.locate(field)).filter(|at| call.value_at(at).is_none()) {
        if let Some((of, name)) = parent_of(&at)
            && of == *parent
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// A name that was sent and that the tool does not know.
struct UnknownName {
    name: String,
    /// Whether the error itself calls it unknown, and not only the schema.
    is_in_error: bool,
}

/// The names that were sent and that the error calls unknown or the schema does not declare.
fn unknown_names(call: &RejectedCall<'_>, parent: &Path) -> Vec<UnknownName> {
    let Some(object) = call.object_at(parent) else { return Vec::new() };
    let in_error = call.facts.iter().filter(|fact| matches!(fact.kind, FactKind::UnknownField { .. }));
    let in_error: Vec<Path> = in_error.filter_map(|fact| Some(call.unknown_field(fact)?.0)).collect();
    let has_declared_names = call.declared_names(parent).is_some();
    let is_undeclared =
        |name: &str| has_declared_names && !call.is_declared(parent, name) && !call.is_value_of_another(name);
    let names = object.keys().map(|name| (name, in_error.contains(&parent.key(name))));
    let unknown = names.filter(|(name, is_in_error)| *is_in_error || is_undeclared(name));
    unknown.map(|(name, is_in_error)| UnknownName { name: name.to_owned(), is_in_error }).collect()
}

/// The missing name that an unknown one is similar to, if no other unknown name is.
fn matching_missing_name(
    call: &RejectedCall<'_>,
    parent: &Path,
    name: &str,
    missing: &[String],
    unknown: &[UnknownName],
) -> Option<String> {
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    let object = call.object_at(parent)?;
    let similar = |name: &UnknownName| similar_name(&name.name, &missing, object.get(&name.name), name.is_in_error);
    let wanted = similar(unknown.iter().find(|unknown| unknown.name == name)?)?;
    let rivals = unknown.iter().filter(|other| similar(other) == Some(wanted)).count();
    (rivals <= 1).then(|| wanted.to_owned())
}

/// The one similar name. If the error itself calls the name unknown, this may also be a whole word of it: `to` of
/// `to_currency`. No number is moved that way, because the other word may be a unit: `amount_cents` is not `amount`.
fn similar_name<'a>(name: &str, candidates: &[&'a str], value: Option<&Value>, is_in_error: bool) -> Option<&'a str> {
    closest_name(name, candidates).or_else(|| {
        if !is_in_error || value.is_none_or(|value| value.as_number().is_some()) {
            return None;
        }
        let words = words_of(name);
        only_match(candidates, |candidate| words.contains(&folded(candidate)))
    })
}

fn rename(call: &RejectedCall<'_>, at: Path, parent: &Path, value: &Value, to: String) -> Option<Change> {
    let declared = call.declared_names(parent);
    let to = match &declared {
        Some(names) => (*names.iter().find(|known| are_alike(known, &to))?).to_owned(),
        None => to,
    };
    call.would_fit(&parent.key(&to), value).then_some(Change::Rename { at, to })
}

/// Drops an unknown field, unless the schema declares it or its value could belong to a known field that has none.
pub(super) fn drop_unknown(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
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
