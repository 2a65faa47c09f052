//! Whether a change is only one of spelling: the same value written as the tool wants it, under the same name.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Number, Value};

use super::{Case, Change, parent_of};

/// Where a value comes from that is the only one a schema allows.
pub(super) const THE_SCHEMA: &str = "the schema";

/// Whether nothing but the spelling changes, or the only value that the schema allows is put in.
pub(super) fn is_only(change: &Change, case: &Case<'_>) -> bool {
    match change {
        Change::Set { at, value, from } => match case.at(at) {
            Some(old) => is_same(old, value),
            None => *from == Some(THE_SCHEMA),
        },
        Change::Remove { at } => case.at(at).is_some_and(is_nothing),
        Change::Rename { at, to } => parent_of(at).is_some_and(|(_, name)| are_alike(&name, to)),
        Change::Swap { .. } => false,
    }
}

/// Whether two values say the same in other letters.
pub(super) fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Array(items), new) if !matches!(new, Value::Array(_)) => {
            matches!(items.as_slice(), [only] if is_same(only, new))
        }
        (old, Value::Number(number)) => number_of(old).is_some_and(|old| old == *number),
        (Value::Number(number), Value::String(text)) => number.to_string() == *text,
        (Value::String(old), Value::Bool(flag)) => old.trim().eq_ignore_ascii_case(&flag.to_string()),
        // A sign in front of digits is more than spelling.
        (Value::String(old), Value::String(new)) => old == new || are_same_text(old, new) && !has_digit(old),
        (old, new) => old == new,
    }
}

/// Case, blanks around it, and one joint for another. A joint that goes makes another name: `maria-b` is not `mariab`.
fn are_same_text(old: &str, new: &str) -> bool {
    let spelt = |text: &str| -> String {
        let joined =
            text.trim().chars().map(|letter| if letter == '-' || letter.is_whitespace() { '_' } else { letter });
        joined.flat_map(char::to_lowercase).collect()
    };
    spelt(old) == spelt(new)
}

fn number_of(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => Number::parse(text.trim()).ok(),
        _ => None,
    }
}

fn has_digit(text: &str) -> bool {
    text.chars().any(|letter| letter.is_ascii_digit())
}

/// Whether a value says nothing.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
