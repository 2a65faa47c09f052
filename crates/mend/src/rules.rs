//! What facts determine: changes of the parameters that need no model.
//!
//! A rule gives a change, or nothing. It uses only values that the schema, the error, the plan, the request or the results
//! hold, it touches only what its fact names, and where two answers are possible it gives none.

mod alike;
mod allowed;
mod case;
mod convert;
mod coordinates;
mod date;
mod drop;
mod expected;
mod fill;
mod held;
mod meant;
mod place;
mod problems;
mod rename;
mod sign;
mod spelling;
mod trim;
mod written;

pub use case::{Case, Caution};
pub use problems::facts_of_problems;

use reknit_protocol::{Object, Path, Segment, Value};

use super::facts::Fact;
use place::set;

/// What a rule wants changed.
#[derive(Debug, Clone, PartialEq)]
enum Change {
    /// Another value at a place.
    Set { at: Path, value: Value, from: Option<&'static str> },
    /// Nothing at a place.
    Remove { at: Path },
    /// The value at a place under another name beside it.
    Rename { at: Path, to: String },
    /// The values of two places exchanged.
    Swap { one: Path, other: Path },
}

/// A rule: its name, and what it makes of one fact.
type Rule = (&'static str, fn(&Case<'_>, &Fact) -> Option<Change>);

/// The rules in their order: what says where a value belongs comes before what changes or drops it.
const RULES: [Rule; 11] = [
    ("rename", rename::rule),
    ("trim", trim::rule),
    ("convert", convert::rule),
    ("allowed", allowed::rule),
    ("meant", meant::rule),
    ("expected", expected::rule),
    ("date", date::rule),
    ("sign", sign::rule),
    ("swap", coordinates::rule),
    ("fill", fill::rule),
    ("drop", drop::rule),
];

/// What all the rules together made of the facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Amendment {
    /// The parameters as they would be.
    pub parameters: Object,
    /// Which rule changed what, and for which fact, in words.
    pub words: String,
}

/// Applies every rule to every fact, each seeing what those before it changed.
pub fn amend(case: Case<'_>) -> Option<Amendment> {
    let mut case = case;
    let mut words: Vec<String> = Vec::new();
    for (name, rule) in RULES {
        for fact in case.facts {
            let Some(change) = rule(&case, fact) else { continue };
            // What the plan takes from a result is not replaced by what looks better, in whatever call.
            let careful = case.caution == Caution::OnlySpelling || case.is_referenced(&change);
            if careful && !spelling::is_only(&change, &case) {
                continue;
            }
            let mut parameters = Value::Object(case.parameters.clone());
            if let Some(what) = change.apply(&mut parameters)
                && let Value::Object(changed) = parameters
            {
                words.push(format!("{name}: {what} ({fact})"));
                case.parameters = changed;
            }
        }
    }
    (!words.is_empty()).then(|| Amendment { parameters: case.parameters, words: words.join("; ") })
}

impl Change {
    /// Makes the change and says it in words; nothing if there was nothing to change.
    fn apply(self, parameters: &mut Value) -> Option<String> {
        match self {
            Self::Set { at, value, from } => {
                let old = parameters.at(&at).cloned();
                if old.as_ref() == Some(&value) {
                    return None;
                }
                let old = old.map_or_else(|| "nothing".to_owned(), |old| old.to_string());
                let from = from.map_or_else(String::new, |from| format!(", from {from}"));
                let text = format!("{} {old} -> {value}{from}", name_of(&at));
                set(parameters, &at, value)?;
                Some(text)
            }
            Self::Remove { at } => {
                let (parent, name) = parent_of(&at)?;
                let old = parameters.at_mut(&parent)?.as_object_mut()?.remove(&name)?;
                Some(format!("{} {old} left out", name_of(&at)))
            }
            Self::Rename { at, to } => {
                let (parent, name) = parent_of(&at)?;
                let object = parameters.at_mut(&parent)?.as_object_mut()?;
                (!object.contains_key(&to) && object.rename(&name, to.as_str())).then(|| format!("{name} -> {to}"))
            }
            Self::Swap { one, other } => {
                let (first, second) = (parameters.at(&one)?.clone(), parameters.at(&other)?.clone());
                *parameters.at_mut(&one)? = second;
                *parameters.at_mut(&other)? = first;
                Some(format!("{} <-> {}", name_of(&one), name_of(&other)))
            }
        }
    }
}

/// The place of the object that holds a name, and the name.
fn parent_of(at: &Path) -> Option<(Path, String)> {
    let mut parent = at.clone();
    match parent.pop()? {
        Segment::Key(name) => Some((parent, name)),
        Segment::Index(_) => None,
    }
}

fn name_of(at: &Path) -> String {
    let text = at.to_string();
    text.strip_prefix("$.").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
