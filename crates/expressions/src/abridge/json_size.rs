//! The size of values as JSON, computed without printing them.

use reknit_protocol::Value;

/// The size of a value as JSON if it is at most `limit`. Stops as soon as the limit is exceeded.
pub(super) fn size_within(value: &Value, limit: usize) -> Option<usize> {
    let mut left = limit;
    spend(value, &mut left)?;
    Some(limit - left)
}

fn spend(value: &Value, left: &mut usize) -> Option<()> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => take(left, value.to_string().len()),
        Value::String(text) => take(left, quoted_size(text, *left)?),
        Value::Array(items) => {
            take(left, punctuation(items.len()))?;
            items.iter().try_for_each(|item| spend(item, left))
        }
        Value::Object(object) => {
            take(left, punctuation(object.len()))?;
            object.iter().try_for_each(|(key, value)| {
                take(left, quoted_size(key, *left)? + 1)?;
                spend(value, left)
            })
        }
    }
}

fn take(left: &mut usize, bytes: usize) -> Option<()> {
    *left = left.checked_sub(bytes)?;
    Some(())
}

/// The size of the brackets around the parts and the commas between them.
fn punctuation(parts: usize) -> usize {
    2 + parts.saturating_sub(1)
}

/// The size of a string with quotes and escapes if it is at most `limit`.
pub(super) fn quoted_size(text: &str, limit: usize) -> Option<usize> {
    if text.len() + 2 > limit {
        return None;
    }
    let size = 2 + text.chars().map(char_size).sum::<usize>();
    (size <= limit).then_some(size)
}

/// The size of a character inside a JSON string.
pub(super) fn char_size(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        control if u32::from(control) < 0x20 => 6,
        other => other.len_utf8(),
    }
}
