//! Whether a quote ends a string, judged by the text after the quote.

use super::{
    cursor::LOOKAHEAD,
    parser::{Parser, QuoteRule, Role},
    quoted::Quote,
};

impl Parser<'_> {
    /// Whether a string may end right before `at`, judged by the text after it.
    pub(super) fn can_end_string(&self, at: usize, role: Role) -> bool {
        let at = at + self.emphasis.min(self.stars_at(at));
        let next = self.after_whitespace(at);
        if next >= self.text.len() {
            return true;
        }
        let newline = self.slice(at, next).contains('\n');
        let byte = self.byte(next);
        match byte {
            b'/' if matches!(self.byte(next + 1), b'/' | b'*') => return true,
            b'#' if next > at => return true,
            b'+' if role != Role::Key => return self.joins_string(next + 1),
            b'`' if self.is_closing_fence(next) => return true,
            b';' if role != Role::Key && self.is_separator(next) => return true,
            b'<' if self.is_closing_tag(next) && !self.rest_from(next).contains('\n') => return true,
            _ => {}
        }
        if self.quote_rule == QuoteRule::ByStructure {
            return self.structure_follows(at, next, role);
        }
        match role {
            Role::Key => {
                matches!(byte, b':' | b'=' | b'{' | b'[' | b'0'..=b'9' | b'-' | b',' | b'}' | b']')
                    || self.quote_at(next).is_some()
                    || (next > at && self.starts_literal(next))
            }
            Role::Member => self.can_end_member(at, next, newline),
            Role::Item | Role::Argument => self.can_end_item(at, next, newline),
            Role::TopLevel => {
                matches!(byte, b',' | b';')
                    || newline
                    || (next > at && matches!(byte, b'{' | b'['))
                    || (byte == b'`' && self.slice(next, next + 3) == "```")
            }
        }
    }

    /// Whether a colon, comma, bracket or key follows at `next`, or words and then one of these.
    fn structure_follows(&self, at: usize, next: usize, role: Role) -> bool {
        let is_structure = |at: usize| match self.byte(at) {
            b',' | b'}' | b']' => true,
            b')' => self.closes_open_frame(b')'),
            b':' => role == Role::Key || self.starts_with_colon_and_value(at),
            _ => self.is_quoted_key(at),
        };
        is_structure(next)
            || (next > at && (self.looks_like_key(next) || self.words_end(next).is_some_and(is_structure)))
    }

    fn can_end_member(&self, at: usize, next: usize, newline: bool) -> bool {
        match self.byte(next) {
            b'}' => true,
            byte @ (b']' | b')') => self.closes_open_frame(byte),
            b'{' => self.open.arrays > 0 && next > at,
            b',' => {
                let key = self.after_whitespace(next + 1);
                key >= self.text.len()
                    || matches!(self.byte(key), b'}' | b']' | b',' | b'/' | b'#' | b'.')
                    || (self.byte(key) == b'{' && self.open.arrays > 0)
                    || self.slice(key, key + 3) == "…"
                    || self.looks_like_key(key)
                    || self.is_key_without_colon(key)
                    || self.words_end(key).is_some_and(|end| self.is_quoted_key(end))
            }
            _ => (newline || next > at || self.quote_at(next).is_some()) && self.looks_like_key(next),
        }
    }

    fn can_end_item(&self, at: usize, next: usize, newline: bool) -> bool {
        let byte = self.byte(next);
        match byte {
            b',' => true,
            b']' | b'}' | b')' => self.closes_open_frame(byte),
            _ if newline => true,
            _ if next == at => {
                // `72""]`: the first of the two quotes is text, the second ends the string.
                self.quote_at(next).is_some_and(|(_, len)| {
                    let behind = self.after_whitespace(next + len);
                    behind < self.text.len() && !matches!(self.byte(behind), b',' | b']' | b'}' | b')')
                })
            }
            b'0'..=b'9' | b'-' | b'{' | b'[' => true,
            _ => self.starts_literal(next) || self.quote_at(next).is_some(),
        }
    }

    /// Whether a string begins at `at`, after a `+`; a comment may come before it.
    pub(super) fn joins_string(&self, at: usize) -> bool {
        let mut at = self.after_whitespace(at);
        if let Some(end) = super::cursor::comment_end(self.text, at) {
            at = self.after_whitespace(end);
        }
        self.quote_at(at).is_some()
    }

    /// If the quote at `at` opens the next key or item, or a string joined with `+`, the end quote of this string is
    /// missing. Returns where its text ends, and whether a `+` follows there.
    pub(super) fn missed_end(&self, quote: Quote, start: usize, at: usize, role: Role) -> Option<(usize, bool)> {
        let mut inside = self.slice(start, at);
        let newline = inside.trim_end_matches([' ', '\t']).ends_with('\n');
        inside = trim_comment(inside.trim_end());
        if let Some(before) = inside.strip_suffix('+') {
            return Some((start + trim_comment(before.trim_end()).len(), true));
        }
        let comma = inside.ends_with(',') && !inside.ends_with("\\,");
        if !comma && !newline {
            return None;
        }
        let opens_next = match role {
            Role::Member => self.looks_like_key(at),
            Role::Item => self.closes_soon(quote, at),
            Role::TopLevel | Role::Key | Role::Argument => false,
        };
        let end = inside.len() - usize::from(comma);
        opens_next.then(|| (start + inside.get(..end).unwrap_or_default().trim_end().len(), false))
    }

    /// Whether the string that opens at `at` ends within the lookahead and is followed by `,` or `]`.
    fn closes_soon(&self, quote: Quote, at: usize) -> bool {
        let from = at + 1;
        let window = self.slice(from, from + LOOKAHEAD);
        window.char_indices().any(|(offset, _)| {
            self.quote_at(from + offset).is_some_and(|(end, len)| {
                quote.is_ended_by(end) && {
                    let next = self.after_whitespace(from + offset + len);
                    matches!(self.byte(next), b',' | b']')
                }
            })
        })
    }
}

/// Removes a `/* */` comment from the end of `text`.
fn trim_comment(text: &str) -> &str {
    let Some(inside) = text.strip_suffix("*/") else { return text };
    let from = inside.floor_char_boundary(inside.len().saturating_sub(LOOKAHEAD));
    match inside.get(from..).and_then(|near| near.rfind("/*")) {
        Some(at) => inside.get(..from + at).unwrap_or_default().trim_end(),
        None => text,
    }
}
