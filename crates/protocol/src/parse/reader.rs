//! Values, arrays, objects and numbers.

use super::MAX_DEPTH;
use super::error::{Fault, Found, ParseProblem};
use crate::number::scan;
use crate::{Number, Object, Value};

pub(super) type Parsed<T> = Result<T, Fault>;

/// A place in a text.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Room for the string that is being put together from runs and escapes.
    pub(super) buffer: String,
    depth: usize,
    /// How many keys the last object at each of the outer depths had: the next one there is often alike, and gets its
    /// memory in one piece.
    alike: [u8; 8],
}

/// The most keys that room is made for in advance. More than a few would let a small text ask for much memory.
const ROOM: u8 = 16;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, buffer: String::new(), depth: 0, alike: [0; 8] }
    }

    /// One value and nothing else.
    pub(super) fn document(mut self) -> Parsed<Value> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.fault(ParseProblem::ByteOrderMark));
        }
        let mut value = Value::Null;
        self.value(&mut value)?;
        match self.token() {
            None => Ok(value),
            Some(_) => Err(self.fault(ParseProblem::TrailingText(self.found()))),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space; the next byte is not passed.
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Reads a value into `slot`, which holds null.
    ///
    /// Values are written where they will stay: handing them back through results costs several copies of 32 bytes,
    /// and those are half the time of reading a list of numbers.
    fn value(&mut self, slot: &mut Value) -> Parsed<()> {
        match self.token() {
            Some(b'"') => *slot = Value::String(self.string()?),
            Some(b'{') => *slot = Value::Object(self.object()?),
            Some(b'[') => *slot = Value::Array(self.array()?),
            Some(b'-' | b'0'..=b'9') => self.number(slot)?,
            Some(b't') => *slot = self.word("true", Value::Bool(true))?,
            Some(b'f') => *slot = self.word("false", Value::Bool(false))?,
            Some(b'n') => *slot = self.word("null", Value::Null)?,
            _ => return Err(self.unexpected("a value")),
        }
        Ok(())
    }

    fn array(&mut self) -> Parsed<Vec<Value>> {
        self.enter()?;
        let mut items = Vec::new();
        if self.token() != Some(b']') {
            loop {
                self.value(items.push_mut(Value::Null))?;
                match self.token() {
                    Some(b',') => self.at += 1,
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
        if self.token() == Some(b'}') {
            self.leave();
            return Ok(Object::new());
        }
        let depth = self.depth;
        let mut object = Object::with_capacity(self.alike.get(depth).copied().unwrap_or(0).into());
        loop {
            self.entry(&mut object)?;
            match self.token() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
        if let Some(alike) = self.alike.get_mut(depth) {
            *alike = u8::try_from(object.len()).unwrap_or(u8::MAX).min(ROOM);
        }
        self.leave();
        Ok(object)
    }

    fn entry(&mut self, object: &mut Object) -> Parsed<()> {
        if self.token() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let start = self.at;
        let key = self.string()?;
        if self.token() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        match object.add(key) {
            Ok(slot) => self.value(slot),
            Err(key) => Err(Fault::new(start, ParseProblem::DuplicateKey(key))),
        }
    }

    #[inline]
    fn number(&mut self, slot: &mut Value) -> Parsed<()> {
        let source = self.text.get(self.at..).unwrap_or_default();
        match scan(source.as_bytes()) {
            Ok(token) => {
                self.at += token.length;
                *slot = Value::Number(Number::from_token(&token, source));
                Ok(())
            }
            Err((offset, error)) => Err(Fault::new(self.at + offset, ParseProblem::Number(error))),
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Parsed<Value> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn enter(&mut self) -> Parsed<()> {
        if self.depth == MAX_DEPTH {
            return Err(self.fault(ParseProblem::TooDeep));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> Fault {
        self.fault(ParseProblem::Unexpected { expected, found: self.found() })
    }

    #[cold]
    pub(super) fn fault(&self, problem: ParseProblem) -> Fault {
        Fault::new(self.at, problem)
    }

    pub(super) fn found(&self) -> Found {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.chars().next().map_or(Found::End, Found::Character)
    }
}
