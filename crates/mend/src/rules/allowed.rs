//! A value that must be one of a list.

use reknit_protocol::{Path, Value};

use super::alike::value_meant;
use super::{Case, Change};
use crate::facts::{Fact, Says};

/// Takes the one value of the list that is meant by another spelling, a longer name or a slip.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Allowed { values, got } = &fact.says else { return None };
    let at = place(case, fact, values, got.as_ref())?;
    let value = case.at(&at)?;
    if values.contains(value) {
        return None;
    }
    let meant = value_meant(value, values)?.clone();
    case.would_fit(&at, &meant).then_some(Change::Set { at, value: meant, from: Some("the values that are allowed") })
}

/// The parameter that the list is for: the one that is named, that holds the value shown, or that the message shows.
fn place(case: &Case<'_>, fact: &Fact, values: &[Value], got: Option<&Value>) -> Option<Path> {
    if let Some((at, _)) = case.value_of(fact) {
        return Some(at);
    }
    if let Some(got) = got {
        let [only] = <[_; 1]>::try_from(case.holders(got)).ok()?;
        return Some(only);
    }
    let is_shown = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && shows(case.message, text));
    let mut wrong = case.parameters.iter().filter(|(_, value)| is_shown(value) && !values.contains(value));
    let (Some((name, _)), None) = (wrong.next(), wrong.next()) else { return None };
    Some(Path::root().key(name))
}

/// Whether a message shows a value, quoted.
fn shows(message: &str, text: &str) -> bool {
    [('`', '`'), ('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’')]
        .iter()
        .any(|(open, close)| message.contains(&format!("{open}{text}{close}")))
}
