//! A cursor over the text of an expression.

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
