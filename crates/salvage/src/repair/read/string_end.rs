//! Whether a quote ends a string, judged by the text after it, and whether the string has swallowed JSON structure.

use super::cursor::LOOKAHEAD;
use super::parser::{Parser, QuoteRule, Role};
use super::quote::Quote;

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
            b'-' if next > at && self.slice(next, next + 3) == "-- " => return true,
            // `says "hi""}`: the second quote ends the string.
            _ if next == at && role == Role::Member && self.is_quote_before_end(next) => return false,
            b'+' if role != Role::Key => return self.joins_string(next + 1),
            b'`' if self.is_closing_fence(next) => return true,
            b';' if role != Role::Key && self.is_separator(next) => return true,
            b'<' if self.is_closing_tag(next)
                && !self.text.get(next..).unwrap_or_default().trim_end().contains('\n') =>
            {
                return true;
            }
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

    /// Whether a quote is at `at`, and a comma or bracket behind it.
    fn is_quote_before_end(&self, at: usize) -> bool {
        self.quote_at(at).is_some_and(|(_, len)| {
            let behind = self.after_whitespace(at + len);
            matches!(self.byte(behind), b',' | b'}' | b']')
        })
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
                    || matches!(self.slice(key, key + 3), "…" | "-- ")
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

impl Parser<'_> {
    /// Notes that the repaired string that opens at `open` contains structure, if it does.
    pub(super) fn note_swallowed(&mut self, open: usize, text: &str, quote: Quote) {
        if self.swallowed.is_none() && contains_structure(text, quote) {
            self.swallowed = Some(open);
        }
    }

    /// Whether the quote at `at` ends a key that is not in an object: `["k": "v"]`.
    pub(super) fn is_key_in_list(&self, quote: Quote, start: usize, at: usize, len: usize, role: Role) -> bool {
        matches!(role, Role::Item | Role::TopLevel)
            && at - start <= LOOKAHEAD
            && self.starts_with_colon_and_value(at + len)
            && !self.slice(start, at).contains(quote.mark())
    }
}

/// Whether a text contains a part of JSON: a key with its colon and value or a list outside of brackets, or a bracket
/// that has no partner. A text with whole JSON in it is a text about JSON.
fn contains_structure(text: &str, quote: Quote) -> bool {
    let mark = quote.mark();
    if !text.contains(mark) {
        return false;
    }
    let (mut depth, mut quotes, mut is_unbalanced) = (0_i32, 0_usize, false);
    let (mut has_key, mut has_quote_at_bracket) = (false, false);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth -= 1;
                is_unbalanced |= depth < 0;
            }
            _ if c == mark => {
                quotes += 1;
                let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
                let rest = rest.get(..rest.floor_char_boundary(LOOKAHEAD)).unwrap_or(rest).trim_start();
                let is_key = rest.strip_prefix(':').is_some_and(starts_value);
                let after_comma = rest.strip_prefix(',').map(str::trim_start);
                // A first quote before a comma opens no quotation, so it ends the string.
                let is_list = quotes == 1 && after_comma.is_some_and(|next| next.starts_with(mark));
                if depth <= 0 && (is_key || is_list || after_comma.is_some_and(starts_list_or_key)) {
                    return true;
                }
                has_key |= is_key;
                has_quote_at_bracket |= is_key || rest.starts_with(['}', ']']) || matches!(previous, '{' | '[' | ',');
            }
            _ => {}
        }
        if !c.is_whitespace() {
            previous = c;
        }
    }
    is_unbalanced || (depth != 0 && has_quote_at_bracket) || (quotes % 2 == 1 && has_key)
}

fn starts_value(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty()
        || text.starts_with(['"', '\'', '{', '[', '-'])
        || text.starts_with(|c: char| c.is_ascii_digit())
        || ["true", "false", "null", "True", "False", "None"].iter().any(|literal| text.starts_with(literal))
}

/// Whether a bracket with a quote after it begins, or a key whose end quote is missing: `"key: 1`.
fn starts_list_or_key(text: &str) -> bool {
    let Some(inside) = text.strip_prefix(['[', '{']) else {
        let word = text.strip_prefix(['"', '\'']).unwrap_or_default();
        let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(0);
        return end > 0 && word.get(end..).and_then(|rest| rest.strip_prefix(':')).is_some_and(starts_value);
    };
    inside.trim_start().starts_with(['"', '\''])
}
