//! The parser for values, arrays, objects and numbers.

use super::MAX_DEPTH;
use super::error::{NextChar, ParseError, ParseProblem, ProblemAt};
use crate::json::number::scan;
use crate::{Number, Object, Value};

pub(super) type Parsed<T> = Result<T, ProblemAt>;

/// A text and the position up to which it is parsed.
pub(crate) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
    /// The string under construction, if it contains escapes.
    pub(super) buffer: String,
    depth: usize,
    /// The number of keys in the last object at each outer depth. The next object there often has as many, so it is
    /// allocated with that capacity.
    expected_keys: [u8; 8],
}

/// The most keys to allocate in advance, because a small text must not allocate much memory.
const MAX_EXPECTED_KEYS: u8 = 16;

impl<'a> Parser<'a> {
    /// Parses a text that is exactly one value.
    pub(crate) fn parse(text: &'a str) -> Result<Value, ParseError> {
        let parser = Self { text, offset: 0, buffer: String::new(), depth: 0, expected_keys: [0; 8] };
        parser.document().map_err(|problem| problem.locate(text))
    }

    fn document(mut self) -> Parsed<Value> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.problem(ParseProblem::ByteOrderMark));
        }
        let mut value = Value::Null;
        self.value(&mut value)?;
        match self.next_token() {
            None => Ok(value),
            Some(_) => Err(self.problem(ParseProblem::TrailingText(self.next_char()))),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    fn next_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.offset += 1,
                other => return other,
            }
        }
    }

    /// Parses a value into `slot`, which holds null.
    ///
    /// Returning the value in a `Result` instead would copy its 32 bytes several times, which takes half the time of
    /// parsing a list of numbers.
    fn value(&mut self, slot: &mut Value) -> Parsed<()> {
        match self.next_token() {
            Some(b'"') => *slot = Value::String(self.string()?),
            Some(b'{') => *slot = Value::Object(self.object()?),
            Some(b'[') => *slot = Value::Array(self.array()?),
            Some(b'-' | b'0'..=b'9') => self.number(slot)?,
            Some(b't') => *slot = self.literal("true", Value::Bool(true))?,
            Some(b'f') => *slot = self.literal("false", Value::Bool(false))?,
            Some(b'n') => *slot = self.literal("null", Value::Null)?,
            _ => return Err(self.unexpected("a value")),
        }
        Ok(())
    }

    fn array(&mut self) -> Parsed<Vec<Value>> {
        self.enter()?;
        let mut items = Vec::new();
        if self.next_token() != Some(b']') {
            loop {
                self.value(items.push_mut(Value::Null))?;
                match self.next_token() {
                    Some(b',') => self.offset += 1,
                    Some(b']') => break,
                    _ => return Err(self.unexpected("`,` or `]`")),
                }
            }
        }
        self.leave();
        Ok(items)
    }

    fn object(&mut self) -> Parsed<Object> {
        self.enter()?;
        if self.next_token() == Some(b'}') {
            self.leave();
            return Ok(Object::new());
        }
        let depth = self.depth;
        let mut object = Object::with_capacity(self.expected_keys.get(depth).copied().unwrap_or(0).into());
        loop {
            self.entry(&mut object)?;
            match self.next_token() {
                Some(b',') => self.offset += 1,
                Some(b'}') => break,
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
        if let Some(expected) = self.expected_keys.get_mut(depth) {
            *expected = u8::try_from(object.len()).unwrap_or(u8::MAX).min(MAX_EXPECTED_KEYS);
        }
        self.leave();
        Ok(object)
    }

    fn entry(&mut self, object: &mut Object) -> Parsed<()> {
        if self.next_token() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let start = self.offset;
        let key = self.string()?;
        if self.next_token() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.offset += 1;
        match object.insert_null(key) {
            Ok(slot) => self.value(slot),
            Err(key) => Err(ProblemAt::new(start, ParseProblem::DuplicateKey(key))),
        }
    }

    #[inline]
    fn number(&mut self, slot: &mut Value) -> Parsed<()> {
        let source = self.text.get(self.offset..).unwrap_or_default();
        match scan(source.as_bytes()) {
            Ok(token) => {
                self.offset += token.length;
                *slot = Value::Number(Number::from_token(&token, source));
                Ok(())
            }
            Err((offset, error)) => Err(ProblemAt::new(self.offset + offset, ParseProblem::Number(error))),
        }
    }

    fn literal(&mut self, literal: &'static str, value: Value) -> Parsed<Value> {
        let rest = self.text.as_bytes().get(self.offset..).unwrap_or_default();
        if !rest.starts_with(literal.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        self.offset += literal.len();
        Ok(value)
    }

    fn enter(&mut self) -> Parsed<()> {
        if self.depth == MAX_DEPTH {
            return Err(self.problem(ParseProblem::TooDeep));
        }
        self.depth += 1;
        self.offset += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.offset += 1;
    }

    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> ProblemAt {
        self.problem(ParseProblem::Unexpected { expected, found: self.next_char() })
    }

    #[cold]
    pub(super) fn problem(&self, problem: ParseProblem) -> ProblemAt {
        ProblemAt::new(self.offset, problem)
    }

    pub(super) fn next_char(&self) -> NextChar {
        let rest = self.text.get(self.offset..).unwrap_or_default();
        rest.chars().next().map_or(NextChar::End, NextChar::Character)
    }
}
