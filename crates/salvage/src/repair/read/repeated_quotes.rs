//! Strings between repeated quotes, as Python's `"""text"""` and `""text""` in CSV files, or between marks of emphasis: `**"Paris"**`.

use super::cursor::LOOKAHEAD;
use super::parser::{Parser, Role};
use super::quote::plain_len;
use super::reading::ParseResult;
use crate::fix::FixKind;

impl Parser<'_> {
    /// Reads Python's `"""text"""`, which may contain quotes and line breaks.
    pub(super) fn read_triple_quoted(&mut self) -> Option<String> {
        let quotes = match self.text.as_bytes().get(self.pos..self.pos + 3)? {
            b"\"\"\"" => "\"\"\"",
            b"'''" => "'''",
            _ => return None,
        };
        let inside = self.rest().get(quotes.len()..)?;
        let len = inside.get(..inside.len().min(1 << 20)).unwrap_or(inside).find(quotes)?;
        let next = self.after_whitespace(self.pos + 2 * quotes.len() + len);
        if next < self.text.len() && !matches!(self.byte(next), b',' | b'}' | b']' | b')' | b':') {
            // An empty string with text after it.
            return None;
        }
        let text = inside.get(..len)?.to_owned();
        self.record(FixKind::Quotes, quotes, "\"");
        self.pos += 2 * quotes.len() + len;
        Some(text)
    }

    /// Reads `""text""`: one that opens and ends with two quotes. `len` is the length of a quote.
    pub(super) fn read_doubled_quotes(&mut self, len: usize, role: Role) -> Option<String> {
        // Most strings open with one quote, so check one byte first.
        if self.byte(self.pos) != self.byte(self.pos + len) {
            return None;
        }
        let start = self.pos + 2 * len;
        let (quote, _) = self.quote_here()?;
        let is_doubled = |at: usize| {
            self.quote_at(at).is_some_and(|(found, _)| found == quote)
                && self.slice(at, at + len) == self.slice(at + len, at + 2 * len)
        };
        let first = self.text.get(start..)?.chars().next()?;
        let is_start = first.is_alphanumeric() || matches!(first, '_' | '$' | '-' | '/' | '.') || is_doubled(start);
        if !is_doubled(self.pos) || !is_start {
            return None;
        }
        let mut end = start;
        while self.quote_at(end).is_none_or(|(found, _)| found != quote) {
            if end >= self.text.len() || matches!(self.byte(end), b'\\' | b'\n') {
                return None;
            }
            end += plain_len(self.text.as_bytes().get(end..)?).max(1);
        }
        let next = self.after_whitespace(end + 2 * len);
        let ends = match role {
            Role::Key => self.byte(next) == b':',
            _ => next >= self.text.len() || matches!(self.byte(next), b',' | b'}' | b']' | b')'),
        };
        if !is_doubled(end) || !ends {
            return None;
        }
        let text = self.slice(start, end).to_owned();
        self.record(FixKind::Quotes, self.slice(self.pos, start), "\"");
        self.pos = end + 2 * len;
        Some(text)
    }
}

impl Parser<'_> {
    pub(super) fn stars_at(&self, at: usize) -> usize {
        self.text.as_bytes().iter().skip(at).take(LOOKAHEAD).take_while(|byte| **byte == b'*').count()
    }

    /// Whether a string begins here that has the same number of `*` before and after its quotes.
    pub(super) fn is_emphasised_string(&self) -> bool {
        let marks = self.stars_at(self.pos);
        let Some((quote, len)) = self.quote_at(self.pos + marks).filter(|_| (1..=3).contains(&marks)) else {
            return false;
        };
        let start = self.pos + marks + len;
        let inside = self.slice(start, start + 4 * LOOKAHEAD);
        inside.char_indices().map(|(at, _)| start + at).any(|at| {
            self.quote_at(at).is_some_and(|(end, len)| {
                let after = self.after_whitespace(at + len + marks);
                let ends = after >= self.text.len() || matches!(self.byte(after), b',' | b']' | b'}' | b')');
                quote.is_ended_by(end) && self.stars_at(at + len) == marks && ends
            })
        })
    }

    /// Reads the string between the marks that begin here, without the marks.
    pub(super) fn read_emphasised(&mut self, role: Role) -> ParseResult<Option<String>> {
        let marks = self.stars_at(self.pos);
        self.record(FixKind::Emphasis, self.slice(self.pos, self.pos + marks), "");
        self.pos += marks;
        self.emphasis = marks;
        let text = self.read_quoted(role);
        self.emphasis = 0;
        self.pos += self.stars_at(self.pos).min(marks);
        text
    }
}
