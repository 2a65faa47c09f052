//! Access to the text: bytes, slices, white space, comments, and short lookaheads.

use super::parser::Parser;
use super::quote::plain_len;
use crate::fix::FixKind;

/// How many bytes a lookahead may read, so that parsing stays linear.
pub(super) const LOOKAHEAD: usize = 256;

impl<'t> Parser<'t> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    /// The byte at `at`, or 0 after the end.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        let end = self.text.ceil_char_boundary(end.min(self.text.len()));
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    /// Skips white space and comments; returns whether a line ended among them.
    pub(super) fn skip_space_and_comments(&mut self) -> bool {
        let mut newline = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' | b'\r' => {
                    newline = true;
                    self.pos += 1;
                }
                b' ' | b'\t' => self.pos += 1,
                b'/' | b'#' | b'-' => match comment_end(self.text, self.pos) {
                    None => break,
                    Some(end) => {
                        let comment = self.slice(self.pos, end);
                        newline |= comment.contains('\n') || !comment.starts_with("/*");
                        self.record(FixKind::Comment, comment, "");
                        self.pos = end;
                    }
                },
                0x80.. => match self.rest().chars().next() {
                    Some(wide) if is_unusual_space(wide) => {
                        self.record(FixKind::WhiteSpace, &wide.to_string(), " ");
                        self.pos += wide.len_utf8();
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        newline
    }

    /// The first offset from `at` on that is not white space.
    pub(super) fn after_whitespace(&self, mut at: usize) -> usize {
        while let Some(byte) = self.text.as_bytes().get(at) {
            at += match byte {
                b' ' | b'\t' | b'\n' | b'\r' => 1,
                0x80.. => match self.text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(wide) if is_unusual_space(wide) => wide.len_utf8(),
                    _ => break,
                },
                _ => break,
            };
        }
        at
    }

    /// Whether a key begins at `at`: a quoted or bare word with a colon after it, or a quoted one that ends with the text.
    pub(super) fn looks_like_key(&self, at: usize) -> bool {
        // A quoted key may be emphasised: `**"a"**:`.
        let marks = self.stars_at(at);
        let quoted = self.quote_at(at + marks).is_some();
        let end = if quoted { self.quoted_key_end(at + marks) } else { self.bare_key_end(at) };
        let Some(end) = end else { return false };
        let after = self.after_whitespace(end + self.stars_at(end).min(marks));
        match self.byte(after) {
            _ if after >= self.text.len() => quoted,
            b':' => true,
            b'"' => quoted && after > end,
            b'=' => self.uses_equals_signs || self.byte(after + 1) == b'>',
            _ => false,
        }
    }

    /// Whether a quoted key with a colon after it begins at `at`.
    pub(super) fn is_quoted_key(&self, at: usize) -> bool {
        let end = self.quoted_key_end(at);
        end.is_some_and(|end| self.byte(self.after_whitespace(end)) == b':')
    }

    /// Whether a quoted word with a value after it, but no colon, begins at `at`.
    pub(super) fn is_key_without_colon(&self, at: usize) -> bool {
        self.after_key_and_space(at).is_some_and(|next| self.starts_value(next))
    }

    /// Whether two strings with white space between them begin at `at`, as in an object without a colon.
    pub(super) fn looks_like_two_strings(&self, at: usize) -> bool {
        self.after_key_and_space(at).is_some_and(|next| self.quote_at(next).is_some())
    }

    /// The offset after the quoted key at `at` and the white space that has to follow it.
    fn after_key_and_space(&self, at: usize) -> Option<usize> {
        let end = self.quoted_key_end(at)?;
        Some(self.after_whitespace(end)).filter(|next| *next > end)
    }

    /// The end of the quoted key at `at` if the key is short and on one line; the end of the text if the key is cut off.
    fn quoted_key_end(&self, at: usize) -> Option<usize> {
        let (quote, len) = self.quote_at(at)?;
        let near = self.text.as_bytes().get(..at + LOOKAHEAD + 1).unwrap_or(self.text.as_bytes());
        let mut from = at + len;
        while from < self.text.len() {
            from += near.get(from..).map_or(0, plain_len);
            if from >= self.text.len() {
                break;
            }
            if from > at + LOOKAHEAD || self.byte(from) == b'\n' {
                return None;
            }
            match self.quote_at(from) {
                Some((end, len)) if quote.is_ended_by(end) => return Some(from + len),
                _ if self.byte(from) == b'\\' => from += 2,
                _ => from += 1,
            }
        }
        Some(self.text.len())
    }

    /// Whether a string with the prefix of another language is here: `r"\d+"`, `u'x'`.
    pub(super) fn is_string_with_prefix(&self) -> bool {
        let open = self.pos + 1;
        let is_quote = matches!(self.byte(open), b'"' | b'\'');
        let ends_at = |end: &usize| *end > open + 1 && self.byte(end - 1) == self.byte(open);
        let follows = |end: usize| matches!(self.byte(self.after_whitespace(end)), b',' | b'}' | b']' | b')' | 0);
        is_quote && self.quoted_key_end(open).filter(ends_at).is_some_and(follows)
    }

    /// Whether a key without its first quote is here, and the text ends with a bracket.
    pub(super) fn is_key_without_first_quote(&self) -> bool {
        let end = self.bare_key_end(self.pos).filter(|end| self.byte(end - 1) == b'"');
        end.is_some_and(|end| self.starts_with_colon_and_value(end)) && self.text.trim_end().ends_with('}')
    }

    fn bare_key_end(&self, at: usize) -> Option<usize> {
        let word =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.') || *byte >= 0x80;
        let len = self.text.as_bytes().iter().skip(at).take(LOOKAHEAD).take_while(|byte| word(byte)).count();
        // `a":` is a key without its first quote.
        let end = at + len + usize::from(self.byte(at + len) == b'"');
        (len > 0).then_some(end)
    }

    /// Whether a value begins at `at`, where a comma or colon may be missing: a quote, bracket, number or literal.
    pub(super) fn starts_value(&self, at: usize) -> bool {
        let window = self.slice(at, at + LOOKAHEAD);
        let word = window.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        self.quote_at(at).is_some()
            || matches!(self.byte(at), b'{' | b'[' | b'-' | b'0'..=b'9')
            || matches!(word, "true" | "false" | "null" | "True" | "False" | "None")
    }

    pub(super) fn starts_literal(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        ["true", "false", "null"].iter().any(|literal| rest.starts_with(literal))
    }
}

/// The end of the comment that begins at `at`, if there is one. An unclosed comment ends with the text.
pub(super) fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let line = || Some(at + rest.find('\n').unwrap_or(rest.len()));
    if rest.starts_with("//") {
        line()
    } else if let Some(inside) = rest.strip_prefix("/*") {
        Some(inside.find("*/").map_or(text.len(), |len| at + 2 + len + 2))
    } else if rest.starts_with("-- ") || rest.starts_with("# ") || rest.starts_with("#\n") || rest.starts_with("##") {
        line()
    } else {
        None
    }
}

/// Whether `c` is white space or a byte order mark that JSON does not allow.
pub(super) fn is_unusual_space(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{180e}' | '\u{2000}'
            ..='\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}
