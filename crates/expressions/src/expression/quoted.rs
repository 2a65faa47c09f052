//! Strings in double or single quotes, with JSON escapes.

use std::fmt::Write as _;

use reknit_protocol::Value;

/// The length in bytes of the quoted string at the start of a text, with its quotes; `None` if it is not closed.
pub(crate) fn quoted_len(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let (_, quote) = characters.next()?;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            _ if character == quote => return Some(at + character.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The content of a quoted string.
pub(super) fn unquote(text: &str) -> Result<String, String> {
    let mut json = String::from("\"");
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('\'') => json.push('\''),
                Some(escaped) => json.extend(['\\', escaped]),
                None => json.push_str("\\\\"),
            },
            '"' => json.push_str("\\\""),
            // Unlike JSON, expressions allow raw line breaks in strings.
            control if u32::from(control) < 0x20 => {
                // Writing to a `String` cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    match Value::parse(&json) {
        Ok(Value::String(text)) => Ok(text),
        Ok(other) => Err(format!("it is {}", other.kind().with_article())),
        Err(error) => Err(error.to_string()),
    }
}
