//! Quoted strings between marks of emphasis: `**"Paris"**`.

use super::{
    cursor::LOOKAHEAD,
    failure::ParseResult,
    parser::{Parser, Role},
};
use crate::fix::FixKind;

impl Parser<'_> {
    /// The number of `*` at `at`.
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
