//! A value under a name that the tool does not know, and a name it misses: the one is moved to the other.

use reknit_protocol::spelling::{are_alike, folded};
use reknit_protocol::{Object, Path, Value};

use super::alike::meant_by;
use super::{Case, Change, parent_of};
use crate::mend::facts::{Fact, Says};

/// Moves what stands under an unknown name, if the error says where, or exactly one missing name is like it.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    match &fact.says {
        Says::Unknown { known } => {
            let (at, value) = case.value_of(fact)?;
            let (parent, name) = parent_of(&at)?;
            let to = told(case, fact, &parent, known).or_else(|| {
                let missing = missing(case, &parent);
                let rivals = strangers(case, &parent);
                paired(&name, &missing, &rivals)
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
            let mut moved =
                strangers.iter().filter(|name| paired(name, &missing, &strangers).as_ref() == Some(&wanted));
            let (Some(name), None) = (moved.next(), moved.next()) else { return None };
            let from = parent.key(name);
            rename(case, from, &parent, object.get(name)?, wanted)
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
        (_, free) => meant_by(fact.field.as_ref()?.steps().last()?, free).map(str::to_owned),
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

/// The names that are sent and that nobody knows, by the error or because the schema declares others.
fn strangers(case: &Case<'_>, parent: &Path) -> Vec<String> {
    let Some(object) = object_at(case, parent) else { return Vec::new() };
    let is_unknown = |name: &str| {
        case.facts.iter().any(|fact| {
            let at = fact.field.as_ref().and_then(|field| case.place(field));
            matches!(fact.says, Says::Unknown { .. }) && at.is_some_and(|at| at == parent.key(name))
        })
    };
    let undeclared = |name: &str| case.declared(parent).is_some() && !case.is_declared(parent, name);
    object.keys().filter(|name| is_unknown(name) || undeclared(name)).map(str::to_owned).collect()
}

/// The missing name that a stranger is like, if no other stranger is like it.
fn paired(name: &str, missing: &[String], strangers: &[String]) -> Option<String> {
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    let wanted = like(name, &missing)?;
    let rivals = strangers.iter().filter(|other| like(other, &missing) == Some(wanted)).count();
    (rivals <= 1).then(|| wanted.to_owned())
}

/// The name that is alike, or the one that is a whole word of the other: `to` of `to_currency`.
fn like<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let words = words_of(name);
    meant_by(name, candidates).or_else(|| {
        let mut whole = candidates.iter().filter(|candidate| words.contains(&folded(candidate)));
        match (whole.next(), whole.next()) {
            (Some(only), None) => Some(*only),
            _ => None,
        }
    })
}

/// `to`, `currency` of `to_currency` and of `toCurrency`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if matches!(letter, '_' | '-' | ' ') || letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && letter.is_alphanumeric()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn rename(case: &Case<'_>, at: Path, parent: &Path, value: &Value, to: String) -> Option<Change> {
    let declared = case.declared(parent);
    let to = match &declared {
        Some(names) => (*names.iter().find(|known| are_alike(known, &to))?).to_owned(),
        None => to,
    };
    case.would_fit(&parent.key(&to), value).then_some(Change::Rename { at, to })
}
