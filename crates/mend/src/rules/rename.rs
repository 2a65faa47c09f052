//! A value under a name that the tool does not know, and a name it misses: the one is moved to the other.

use reknit_protocol::spelling::{are_alike, folded};
use reknit_protocol::{Object, Path, Value};

use super::alike::{meant_by, words_of};
use super::{Case, Change, parent_of};
use crate::facts::{Fact, Says};

/// Moves what stands under an unknown name, if the error says where, or exactly one missing name is like it.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    match &fact.says {
        Says::Unknown { known } => {
            let (at, value) = case.stranger(fact)?;
            let (parent, name) = parent_of(&at)?;
            let to = told(case, fact, &parent, known).or_else(|| {
                let missing = missing(case, &parent);
                paired(case, &parent, &name, &missing, &strangers(case, &parent))
            })?;
            rename(case, at, &parent, value, to)
        }
        Says::Missing => {
            let at = case.place(fact.field.as_ref()?)?;
            let (parent, wanted) = parent_of(&at)?;
            let object = object_at(case, &parent)?;
            let spelt = fact.field.as_ref()?.steps().last()?;
            if let Some(value) = object.get(&wanted) {
                // The tool misses the name in its own spelling, and no schema says that the one sent is right.
                let is_ours = case.declared(&parent).is_some_and(|names| names.contains(&wanted.as_str()));
                let is_other = *spelt != wanted && !is_ours && !object.contains_key(spelt);
                return is_other.then(|| rename(case, at.clone(), &parent, value, spelt.clone())).flatten();
            }
            let strangers = strangers(case, &parent);
            let missing = missing(case, &parent);
            let is_moved =
                |name: &&Stranger| paired(case, &parent, &name.name, &missing, &strangers) == Some(wanted.clone());
            let mut moved = strangers.iter().filter(is_moved);
            let (Some(stranger), None) = (moved.next(), moved.next()) else { return None };
            rename(case, parent.key(&stranger.name), &parent, object.get(&stranger.name)?, wanted)
        }
        _ => None,
    }
}

fn object_at<'a>(case: &'a Case<'_>, parent: &Path) -> Option<&'a Object> {
    if parent.is_root() { Some(&case.parameters) } else { case.at(parent)?.as_object() }
}

/// The name that the error itself gives for an unknown one.
fn told(case: &Case<'_>, fact: &Fact, parent: &Path, known: &[String]) -> Option<String> {
    let mut meant: Vec<&str> = case
        .facts
        .iter()
        .filter(|other| other.field == fact.field)
        .filter_map(|other| match &other.says {
            Says::Meant { value } => value.as_str(),
            _ => None,
        })
        .collect();
    meant.dedup();
    let object = object_at(case, parent)?;
    let free: Vec<&str> = known.iter().map(String::as_str).filter(|name| !object.contains_key(name)).collect();
    match (meant.as_slice(), free.as_slice()) {
        ([only], _) if !object.contains_key(only) => Some((*only).to_owned()),
        // The one name that is offered is meant if no other is known at all, or if it is alike.
        (_, [only]) if known.len() == 1 => Some((*only).to_owned()),
        (_, free) => {
            let name = fact.field.as_ref()?.steps().last()?;
            like(name, free, object.get(name), Told::ByError).map(str::to_owned)
        }
    }
}

/// The names that must be there and are not, by the error or by the schema.
fn missing(case: &Case<'_>, parent: &Path) -> Vec<String> {
    let mut names = case.lacking(parent);
    let stated = case.facts.iter().filter(|fact| fact.says == Says::Missing).filter_map(|fact| fact.field.as_ref());
    for at in stated.filter_map(|field| case.place(field)).filter(|at| case.at(at).is_none()) {
        if let Some((of, name)) = parent_of(&at)
            && of == *parent
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// A name that is sent and that nobody knows.
struct Stranger {
    name: String,
    told: Told,
}

/// Who says that a name is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    ByError,
    BySchema,
}

/// The names that are sent and that nobody knows, by the error or because the schema declares others.
fn strangers(case: &Case<'_>, parent: &Path) -> Vec<Stranger> {
    let Some(object) = object_at(case, parent) else { return Vec::new() };
    let unknown = case.facts.iter().filter(|fact| matches!(fact.says, Says::Unknown { .. }));
    let unknown: Vec<Path> = unknown.filter_map(|fact| Some(case.stranger(fact)?.0)).collect();
    let has_names = case.declared(parent).is_some();
    let is_undeclared = |name: &str| has_names && !case.is_declared(parent, name) && !case.is_value(name);
    let told = |name: &str| {
        let by_error = unknown.contains(&parent.key(name)).then_some(Told::ByError);
        by_error.or_else(|| is_undeclared(name).then_some(Told::BySchema))
    };
    object.keys().filter_map(|name| Some(Stranger { name: name.to_owned(), told: told(name)? })).collect()
}

/// The missing name that a stranger is like, if no other stranger is like it.
fn paired(case: &Case<'_>, parent: &Path, name: &str, missing: &[String], strangers: &[Stranger]) -> Option<String> {
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    let object = object_at(case, parent)?;
    let meant = |stranger: &Stranger| like(&stranger.name, &missing, object.get(&stranger.name), stranger.told);
    let wanted = meant(strangers.iter().find(|stranger| stranger.name == name)?)?;
    let rivals = strangers.iter().filter(|other| meant(other) == Some(wanted)).count();
    (rivals <= 1).then(|| wanted.to_owned())
}

/// The name that is alike; if the error itself calls the other unknown, also the one that is a whole word of it: `to` of
/// `to_currency`. A word more may be a unit: `amount_cents` is no `amount`, so no number is moved for that.
fn like<'a>(name: &str, candidates: &[&'a str], value: Option<&Value>, told: Told) -> Option<&'a str> {
    meant_by(name, candidates).or_else(|| {
        if told == Told::BySchema || value.is_none_or(|value| value.as_number().is_some()) {
            return None;
        }
        let words = words_of(name);
        let mut whole = candidates.iter().filter(|candidate| words.contains(&folded(candidate)));
        match (whole.next(), whole.next()) {
            (Some(only), None) => Some(*only),
            _ => None,
        }
    })
}

fn rename(case: &Case<'_>, at: Path, parent: &Path, value: &Value, to: String) -> Option<Change> {
    let declared = case.declared(parent);
    let to = match &declared {
        Some(names) => (*names.iter().find(|known| are_alike(known, &to))?).to_owned(),
        None => to,
    };
    case.would_fit(&parent.key(&to), value).then_some(Change::Rename { at, to })
}
