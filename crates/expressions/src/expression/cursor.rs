//! A cursor over the text of an expression, and strings in quotes.

use std::fmt::Write as _;

use reknit_protocol::Value;

/// A text and the position of the next character to read.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The text that has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> &'t str {
        let taken = self.rest().get(..length).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    /// Reads `wanted` if it comes next.
    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    pub(super) fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Whether the previous character is whitespace, or there is none.
    pub(super) fn is_after_space(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        before.chars().next_back().is_none_or(char::is_whitespace)
    }

    /// The number of characters that have been read.
    pub(super) fn position(&self) -> usize {
        self.text.get(..self.at).unwrap_or_default().chars().count()
    }
}

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
