//! Whether a change affects only the spelling: the same value and the same name, written as the tool expects.

use reknit_protocol::Value;
use reknit_protocol::spelling::are_alike;

use super::{Change, RejectedCall, parent_of};
use crate::number_of;

/// The source of a value that is the only one a schema allows.
pub(super) const THE_SCHEMA: &str = "the schema";

/// Whether a change affects only the spelling, drops an empty value, or fills in the only value that the schema allows.
pub(super) fn changes_only_spelling(change: &Change, call: &RejectedCall<'_>) -> bool {
    match change {
        Change::Set { at, value, from } => match call.value_at(at) {
            Some(old) => is_same_value(old, value),
            None => *from == Some(THE_SCHEMA),
        },
        Change::Remove { at } => call.value_at(at).is_some_and(is_empty_value),
        Change::Rename { at, to } => parent_of(at).is_some_and(|(_, name)| are_alike(&name, to)),
        Change::Swap { .. } => false,
    }
}

/// Whether two values differ only in type and spelling.
pub fn is_same_value(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Array(items), new) if !matches!(new, Value::Array(_)) => {
            matches!(items.as_slice(), [only] if is_same_value(only, new))
        }
        (old, Value::Number(number)) => number_of(old).is_some_and(|old| old == *number),
        (Value::Number(number), Value::String(text)) => number.to_string() == *text,
        (Value::String(old), Value::Bool(flag)) => old.trim().eq_ignore_ascii_case(&flag.to_string()),
        // In a text with digits a separator may be a minus sign.
        (Value::String(old), Value::String(new)) => old == new || are_same_text(old, new) && !has_digit(old),
        (old, new) => old == new,
    }
}

/// Whether two texts differ only in case, surrounding white space and the kind of separators. The number of separators counts:
/// `maria-b` is not `mariab`.
fn are_same_text(old: &str, new: &str) -> bool {
    let normalize = |text: &str| -> String {
        let joined =
            text.trim().chars().map(|letter| if letter == '-' || letter.is_whitespace() { '_' } else { letter });
        joined.flat_map(char::to_lowercase).collect()
    };
    normalize(old) == normalize(new)
}

fn has_digit(text: &str) -> bool {
    text.chars().any(|letter| letter.is_ascii_digit())
}

/// Whether a value is null or empty.
pub(super) fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
