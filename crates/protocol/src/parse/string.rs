//! Strings: copied as a whole where nothing is escaped, run by run where something is.

use super::error::{Fault, ParseProblem};
use super::reader::{Parsed, Reader};
use super::run::plain_run;

impl<'a> Reader<'a> {
    /// Reads a string; the reader stands at its opening quote.
    pub(super) fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let run = self.run();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(run.to_owned());
        }
        self.escaped_string(run)
    }

    /// Reads the rest of a string in which something is escaped, behind its first run.
    fn escaped_string(&mut self, run: &str) -> Parsed<String> {
        // One buffer serves all strings, so that each is allocated once, at its final size.
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        text.push_str(run);
        self.rest_of_string(&mut text)?;
        let string = text.as_str().to_owned();
        self.buffer = text;
        Ok(string)
    }

    /// Passes the bytes that stand for themselves.
    fn run(&mut self) -> &'a str {
        let start = self.at;
        self.at += plain_run(self.text.as_bytes().get(start..).unwrap_or_default());
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn rest_of_string(&mut self, text: &mut String) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(byte) => return Err(self.fault(ParseProblem::ControlCharacter(byte))),
                None => return Err(self.unexpected("`\"` at the end of the string")),
            }
            text.push_str(self.run());
        }
    }

    /// Reads an escape; the reader stands at its backslash.
    fn escape(&mut self) -> Parsed<char> {
        self.at += 1;
        let letter = match self.peek() {
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.fault(ParseProblem::BadEscape(self.found()))),
        };
        self.at += 1;
        Ok(letter)
    }

    /// Reads `u` and four digits, and the other half if this is half of a pair.
    fn unicode_escape(&mut self) -> Parsed<char> {
        let backslash = self.at - 1;
        let first = self.code_unit()?;
        if let Some(letter) = char::from_u32(first.into()) {
            return Ok(letter);
        }
        let mut units = [first, 0];
        if self.text.get(self.at..).unwrap_or_default().starts_with("\\u") {
            self.at += 1;
            units = [first, self.code_unit()?];
        }
        if let Some(Ok(letter)) = char::decode_utf16(units).next() {
            return Ok(letter);
        }
        Err(Fault::new(backslash, ParseProblem::LoneSurrogate(first)))
    }

    /// Reads `u` and four digits.
    fn code_unit(&mut self) -> Parsed<u16> {
        self.at += 1;
        let mut unit = 0_u16;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(hex_digit) else {
                return Err(self.unexpected("four hexadecimal digits after `\\u`"));
            };
            unit = unit << 4 | u16::from(digit);
            self.at += 1;
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
