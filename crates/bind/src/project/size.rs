//! How long values are as JSON text, without writing them.

use reknit_protocol::Value;

/// The length of a value as JSON, if it is at most `limit`. Does no more work than that many bytes are worth.
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
            take(left, brackets(items.len()))?;
            items.iter().try_for_each(|item| spend(item, left))
        }
        Value::Object(object) => {
            take(left, brackets(object.len()))?;
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

/// The brackets around so many parts, and the commas between them.
fn brackets(parts: usize) -> usize {
    2 + parts.saturating_sub(1)
}

/// The length of a text in quotes, if it is at most `limit`.
pub(super) fn quoted_size(text: &str, limit: usize) -> Option<usize> {
    if text.len() + 2 > limit {
        return None;
    }
    let size = 2 + text.chars().map(letter_size).sum::<usize>();
    (size <= limit).then_some(size)
}

/// The length of a letter inside quotes.
pub(super) fn letter_size(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        control if u32::from(control) < 0x20 => 6,
        other => other.len_utf8(),
    }
}
