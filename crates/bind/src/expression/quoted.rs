//! Texts in quotes, double or single, with the escapes of JSON.

use std::fmt::Write as _;

use reknit_protocol::Value;

/// How many bytes the text in quotes at the start has, its quotes included; `None` if it does not end.
pub(crate) fn quoted_len(text: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    let (_, quote) = letters.next()?;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            _ if letter == quote => return Some(at + letter.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Reads a text with its quotes.
pub(super) fn unquote(text: &str) -> Result<String, String> {
    let mut json = String::from("\"");
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\'') => json.push('\''),
                Some(escaped) => json.extend(['\\', escaped]),
                None => json.push_str("\\\\"),
            },
            '"' => json.push_str("\\\""),
            // Line breaks as they are: nobody can mean anything else by them.
            control if u32::from(control) < 0x20 => {
                // Writing to a string does not fail.
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
