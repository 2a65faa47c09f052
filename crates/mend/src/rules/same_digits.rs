//! Takes the identifier with the same digits that the results have.

use reknit_protocol::Value;
use reknit_protocol::spelling::are_alike;

use super::referred_parameters::values_in;
use super::{Change, RejectedCall, only, parent_of};
use crate::facts::{Fact, FactKind};

/// If an identifier is not found, takes the one value that the results have under the same name with the same digits:
/// `4521` for `ORD-4521`.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::NotFound { value: shown } = &fact.kind else { return None };
    let at = match (call.located_value(fact), shown) {
        (Some((at, _)), _) => at,
        (None, Some(shown)) => call.only_parameter(|value| value == shown)?,
        (None, None) => return None,
    };
    let sent = call.value_at(&at)?;
    let (_, name) = parent_of(&at)?;
    let digits = digits(sent).filter(|digits| !digits.is_empty())?;
    let mut found: Vec<&Value> = Vec::new();
    for (path, value) in call.results.iter().flat_map(|(_, body)| values_in(body)) {
        let is_named = parent_of(&path).is_some_and(|(_, key)| are_alike(&key, &name));
        if is_named && self::digits(value).as_ref() == Some(&digits) && !found.contains(&value) {
            found.push(value);
        }
    }
    let value = only(found.into_iter()).filter(|value| *value != sent)?.clone();
    call.would_fit(&at, &value).then_some(Change::Set { at, value, from: Some("a result") })
}

/// The digits of an identifier; `None` for a value that is none.
fn digits(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text.chars().filter(char::is_ascii_digit).collect())
}
