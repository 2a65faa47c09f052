//! The parser for strings, which copies plain bytes in runs between escapes.

use super::error::{ParseProblem, ProblemAt};
use super::parser::{Parsed, Parser};
use crate::json::plain_bytes::plain_prefix_len;

impl<'a> Parser<'a> {
    /// Parses a string, starting at its opening quote.
    pub(super) fn string(&mut self) -> Parsed<String> {
        self.offset += 1;
        let run = self.plain_run();
        if self.peek() == Some(b'"') {
            self.offset += 1;
            return Ok(run.to_owned());
        }
        self.escaped_string(run)
    }

    /// Parses the rest of a string with escapes, after its first plain run.
    fn escaped_string(&mut self, run: &str) -> Parsed<String> {
        // All strings share one buffer, so that each is allocated once, with its final size.
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        text.push_str(run);
        self.rest_of_string(&mut text)?;
        let string = text.as_str().to_owned();
        self.buffer = text;
        Ok(string)
    }

    fn plain_run(&mut self) -> &'a str {
        let start = self.offset;
        self.offset += plain_prefix_len(self.text.as_bytes().get(start..).unwrap_or_default());
        self.text.get(start..self.offset).unwrap_or_default()
    }

    fn rest_of_string(&mut self, text: &mut String) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(());
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(byte) => return Err(self.problem(ParseProblem::ControlCharacter(byte))),
                None => return Err(self.unexpected("`\"` at the end of the string")),
            }
            text.push_str(self.plain_run());
        }
    }

    /// Parses an escape, starting at its backslash.
    fn escape(&mut self) -> Parsed<char> {
        self.offset += 1;
        let letter = match self.peek() {
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.problem(ParseProblem::BadEscape(self.next_char()))),
        };
        self.offset += 1;
        Ok(letter)
    }

    /// Parses `u` and four digits, and a second escape if the first is half of a surrogate pair.
    fn unicode_escape(&mut self) -> Parsed<char> {
        let backslash = self.offset - 1;
        let first = self.code_unit()?;
        if let Some(letter) = char::from_u32(first.into()) {
            return Ok(letter);
        }
        let mut units = [first, 0];
        if self.text.get(self.offset..).unwrap_or_default().starts_with("\\u") {
            self.offset += 1;
            units = [first, self.code_unit()?];
        }
        if let Some(Ok(letter)) = char::decode_utf16(units).next() {
            return Ok(letter);
        }
        Err(ProblemAt::new(backslash, ParseProblem::LoneSurrogate(first)))
    }

    fn code_unit(&mut self) -> Parsed<u16> {
        self.offset += 1;
        let mut unit = 0_u16;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(hex_digit) else {
                return Err(self.unexpected("four hexadecimal digits after `\\u`"));
            };
            unit = unit << 4 | u16::from(digit);
            self.offset += 1;
        }
        Ok(unit)
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
