//! Looking at the text: bytes, slices, white space, comments, and short looks ahead.

use super::{parser::Parser, quoted::plain_len};
use crate::fix::FixKind;

/// How far a look ahead may go before it says no; it keeps the time linear.
pub(super) const LOOK: usize = 256;

impl<'t> Parser<'t> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    /// The byte at `at`, or 0 behind the end.
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

    /// Moves over white space and comments; says whether a line ended on the way.
    pub(super) fn space(&mut self) -> bool {
        let mut newline = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' | b'\r' => {
                    newline = true;
                    self.pos += 1;
                }
                b' ' | b'\t' => self.pos += 1,
                b'/' | b'#' => match comment_end(self.text, self.pos) {
                    None => break,
                    Some(end) => {
                        let comment = self.slice(self.pos, end);
                        newline |= comment.contains('\n') || !comment.starts_with("/*");
                        self.fix(FixKind::Comment, comment, "");
                        self.pos = end;
                    }
                },
                0x80.. => match self.rest().chars().next() {
                    Some(wide) if is_odd_space(wide) => {
                        self.fix(FixKind::WhiteSpace, &wide.to_string(), " ");
                        self.pos += wide.len_utf8();
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        newline
    }

    /// The first position from `at` that is no JSON white space.
    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        at + self.text.as_bytes().iter().skip(at).take_while(|byte| blank(byte)).count()
    }

    /// Whether a key begins at `at`: a quoted or bare word with a colon behind it, or one that the text cuts.
    pub(super) fn looks_like_key(&self, at: usize) -> bool {
        let quoted = self.quote_at(at).is_some();
        let end = if quoted { self.quoted_key_end(at) } else { self.bare_key_end(at) };
        let Some(end) = end else { return false };
        let after = self.skip_blanks(end);
        match self.byte(after) {
            _ if after >= self.text.len() => quoted,
            b':' => true,
            b'"' => quoted && after > end,
            b'=' => self.byte(after + 1) == b'>',
            _ => false,
        }
    }

    /// The end of the quoted key at `at`, if it is short and on one line; the end of the text if that cuts it.
    fn quoted_key_end(&self, at: usize) -> Option<usize> {
        let (quote, len) = self.quote_at(at)?;
        let near = self.text.as_bytes().get(..at + LOOK + 1).unwrap_or(self.text.as_bytes());
        let mut from = at + len;
        while from < self.text.len() {
            from += near.get(from..).map_or(0, plain_len);
            if from >= self.text.len() {
                break;
            }
            if from > at + LOOK || self.byte(from) == b'\n' {
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

    fn bare_key_end(&self, at: usize) -> Option<usize> {
        let word =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.') || *byte >= 0x80;
        let len = self.text.as_bytes().iter().skip(at).take(LOOK).take_while(|byte| word(byte)).count();
        // `a":` is a key that lost its first quote.
        let end = at + len + usize::from(self.byte(at + len) == b'"');
        (len > 0).then_some(end)
    }

    /// Whether a value can begin at the current position, seen from behind a key without a colon.
    pub(super) fn starts_value_after_key(&self) -> bool {
        let word = self.rest().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        self.quote_here().is_some()
            || matches!(self.byte(self.pos), b'{' | b'[' | b'-' | b'0'..=b'9')
            || matches!(word, "true" | "false" | "null" | "True" | "False" | "None")
    }
}

/// The end of the comment that begins at `at`, if one does. An unclosed one ends with the text.
pub(super) fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let line = || Some(at + rest.find('\n').unwrap_or(rest.len()));
    if rest.starts_with("//") {
        line()
    } else if let Some(inside) = rest.strip_prefix("/*") {
        Some(inside.find("*/").map_or(text.len(), |len| at + 2 + len + 2))
    } else if rest.starts_with("# ") || rest.starts_with("#\n") || rest.starts_with("##") {
        line()
    } else {
        None
    }
}

/// White space of Unicode that JSON does not know.
pub(super) fn is_odd_space(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{180e}' | '\u{2000}'
            ..='\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}
