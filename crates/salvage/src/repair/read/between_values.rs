//! Text between values that is dropped: extra commas, `...`, stray words, and the end of a code block.

use super::cursor::LOOKAHEAD;
use super::parser::{Parser, QuoteRule, Role};
use super::states::State;
use crate::fix::FixKind;

impl Parser<'_> {
    pub(super) fn skip_extra_commas(&mut self, next: State) -> State {
        let start = self.pos;
        while self.peek() == Some(b',') {
            self.pos += 1;
            self.skip_space_and_comments();
        }
        self.record(FixKind::ExtraComma, self.slice(start, self.pos), "");
        next
    }

    /// Skips `...` in place of omitted items, with the comma after it; returns whether there was one.
    pub(super) fn skip_elision(&mut self) -> bool {
        // This runs after every value, so check one byte first.
        if !matches!(self.peek(), Some(b'.' | 0xE2)) {
            return false;
        }
        let rest = self.rest();
        let Some(len) = ["...", "…"].iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len()) else {
            return false;
        };
        self.record(FixKind::Elision, self.slice(self.pos, self.pos + len), "");
        self.elided = true;
        self.pos += len;
        self.skip_space_and_comments();
        if self.peek() == Some(b',') {
            self.pos += 1;
        }
        true
    }

    /// Whether a fence that ends a code block is at `at`: nothing else follows on its line, and no bracket opens before it.
    pub(super) fn is_closing_fence(&self, at: usize) -> bool {
        // This runs after every value, so check one byte first.
        self.byte(at) == b'`' && self.slice(at, at + 3) == "```" && !self.follows_opening_bracket(at) && {
            let line = self.slice(at, at + LOOKAHEAD).split('\n').next().unwrap_or_default();
            line.trim_end().bytes().all(|byte| byte == b'`')
        }
    }

    /// Whether a closing tag such as `</tool_call>` is at `at`, with nothing but tags behind it on its line.
    pub(super) fn is_closing_tag(&self, at: usize) -> bool {
        let line = self.slice(at, at + LOOKAHEAD).split('\n').next().unwrap_or_default().trim_end();
        let is_tag =
            |tag: &str| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        line.strip_suffix('>').is_some_and(|tags| tags.split('>').all(|tag| tag.strip_prefix("</").is_some_and(is_tag)))
    }

    /// Whether the semicolon at `at` stands for a comma: a key follows it in an object, or a value in an array.
    pub(super) fn is_separator(&self, at: usize) -> bool {
        let next = self.after_whitespace(at + 1);
        self.byte(at) == b';'
            && match self.role() {
                Role::Member => {
                    self.is_quoted_key(next)
                        || self.byte(next) == b'}'
                        || (self.uses_equals_signs && self.looks_like_key(next))
                }
                Role::Item => self.starts_value(next),
                Role::TopLevel | Role::Key | Role::Argument => false,
            }
    }

    /// Whether the text is escaped like the inside of a string: `{\"a\": 1}`, `{\n  \"a\": 1}`.
    pub(super) fn is_escaped_text(&self) -> bool {
        let mut rest = self.slice(self.pos, self.pos + LOOKAHEAD);
        while let Some(after) = ["\\n", "\\t", "\\r"].iter().find_map(|space| rest.strip_prefix(space)) {
            rest = after.trim_start_matches(' ');
        }
        rest.starts_with("\\\"")
    }

    /// Whether the last visible character before `at` opens an array or object.
    pub(super) fn follows_opening_bracket(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        before.trim_end_matches([' ', '\t', '\n', '\r']).ends_with(['{', '['])
    }

    /// Skips words in front of a quoted key: `NOTE "b": 1`. Returns whether there were any.
    pub(super) fn skip_words_before_key(&mut self) -> bool {
        let Some(end) = self.words_end(self.pos).filter(|end| self.is_quoted_key(*end)) else { return false };
        self.drop_stray_text(end);
        true
    }

    /// Skips words after the value of a key: `"b": "x" NOTE }`. Returns whether there were any.
    pub(super) fn skip_words_after_value(&mut self) -> bool {
        if self.quote_rule == QuoteRule::ByContext {
            return false;
        }
        let Some(end) = self.words_end(self.pos).filter(|end| matches!(self.byte(*end), b',' | b'}')) else {
            return false;
        };
        self.drop_stray_text(end);
        true
    }

    fn drop_stray_text(&mut self, end: usize) {
        self.record(FixKind::StrayText, self.slice(self.pos, end).trim_end(), "");
        self.pos = end;
    }

    /// The end of the unquoted words at `at`: the next quote, colon, comma, bracket or line end. `None` if there are no words.
    pub(super) fn words_end(&self, at: usize) -> Option<usize> {
        // Most keys and values begin with another character, so check one byte first.
        if !matches!(self.byte(at), b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80..) {
            return None;
        }
        let window = self.slice(at, at + LOOKAHEAD);
        if !window.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        let is_end =
            |c: char| matches!(c, '"' | '\'' | ':' | '=' | ',' | '{' | '}' | '[' | ']' | '(' | ')' | '\n' | '`');
        window.find(is_end).map(|len| at + len)
    }
}
