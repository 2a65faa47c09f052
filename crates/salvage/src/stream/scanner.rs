//! Finds where the JSON begins in a text that goes on, reads it as it arrives, and stops at the first damage.
//!
//! A value is complete when what follows shows that it has ended: in an object the next key with its colon, in an array the next
//! item, or a closing bracket. A quote alone does not end a string, because it may be a quote that was not escaped.

use std::borrow::Cow;

use reknit_protocol::{MAX_DEPTH, Object, Path, Segment, Value};

use super::partial::{PartialReading, PartialState};
use crate::repair::read::REASONING_TAGS;

/// The state of reading a text up to an offset.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    start: StartFinder,
    at: usize,
    value: Option<Value>,
    /// The path of the innermost open array or object.
    path: Path,
    frames: Vec<bool>,
    /// The place of the last value in the innermost array or object, if it may still change.
    last: Option<Segment>,
    expected: Expected,
    key: String,
    /// What was read of the open string since it was last added to the value.
    run: String,
    state: PartialState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Expected {
    #[default]
    Value,
    ItemOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
    InKey,
    InString,
    /// Inside of a number or literal that begins at the offset.
    InScalar(usize),
}

enum Halt {
    /// The rest of a token has not arrived.
    Unfinished,
    Damaged,
}

impl Scanner {
    /// Reads what was added to the text.
    pub(super) fn advance(&mut self, text: &str) {
        if self.state != PartialState::Open {
            return;
        }
        if self.value.is_none() {
            let Some(start) = self.start.advance(text) else { return };
            self.at = start;
        }
        while self.state == PartialState::Open
            && let Some(byte) = text.as_bytes().get(self.at).copied()
        {
            match self.step(text, byte) {
                Ok(()) => {}
                Err(Halt::Unfinished) => break,
                Err(Halt::Damaged) => self.state = PartialState::Stopped,
            }
        }
        self.add_run();
    }

    pub(super) fn partial(&self) -> Option<PartialReading<'_>> {
        let value = self.value.as_ref()?;
        Some(PartialReading { value, container: &self.path, last: self.last.as_ref(), state: self.state })
    }

    fn step(&mut self, text: &str, byte: u8) -> Result<(), Halt> {
        match self.expected {
            Expected::InKey | Expected::InString => return self.read_string(text, byte),
            Expected::InScalar(start) => return self.read_scalar(text, start, byte),
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
            Expected::ItemOrEnd if byte == b']' => self.close(),
            Expected::KeyOrEnd if byte == b'}' => self.close(),
            Expected::Value | Expected::ItemOrEnd => return self.begin_value(byte),
            Expected::KeyOrEnd | Expected::Key if byte == b'"' => {
                self.key.clear();
                self.expected = Expected::InKey;
            }
            Expected::Colon if byte == b':' => self.end_key()?,
            Expected::CommaOrEnd => match (byte, self.is_in_object()) {
                (b',', true) => self.expected = Expected::Key,
                (b',', false) => self.expected = Expected::Value,
                (b'}', true) | (b']', false) => self.close(),
                _ => return Err(Halt::Damaged),
            },
            _ => return Err(Halt::Damaged),
        }
        self.at += 1;
        Ok(())
    }

    fn is_in_object(&self) -> bool {
        self.frames.last() == Some(&true)
    }

    fn container(&mut self) -> Option<&mut Value> {
        self.value.as_mut()?.at_mut(&self.path)
    }

    /// The key has its colon, so the value before it is complete.
    fn end_key(&mut self) -> Result<(), Halt> {
        self.last = None;
        let key = std::mem::take(&mut self.key);
        // A repeated key would change a value that is complete.
        let is_repeated = matches!(self.container(), Some(Value::Object(object)) if object.contains_key(&key));
        self.key = key;
        self.expected = Expected::Value;
        if is_repeated { Err(Halt::Damaged) } else { Ok(()) }
    }

    fn begin_value(&mut self, byte: u8) -> Result<(), Halt> {
        match byte {
            b'{' | b'[' => self.open(byte == b'{')?,
            b'"' => {
                // A string behind an object may be a key of it: `[{"a": 1}, "b": 2]`.
                let last = self.container().and_then(|container| container.as_array()?.last());
                let follows_container = matches!(last, Some(Value::Object(_) | Value::Array(_)));
                if follows_container && !self.is_in_object() {
                    return Err(Halt::Damaged);
                }
                self.add("".into());
                self.expected = Expected::InString;
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.expected = Expected::InScalar(self.at),
            _ => return Err(Halt::Damaged),
        }
        self.at += 1;
        Ok(())
    }

    fn open(&mut self, is_object: bool) -> Result<(), Halt> {
        // One level is reserved for the array around a sequence of values.
        if self.frames.len() + 1 >= MAX_DEPTH {
            return Err(Halt::Damaged);
        }
        let empty = if is_object { Value::Object(Object::new()) } else { Value::Array(Vec::new()) };
        if self.frames.is_empty() {
            self.value = Some(empty);
        } else {
            self.add(empty);
            match self.last.take() {
                Some(Segment::Key(key)) => self.path.push_key(key),
                Some(Segment::Index(index)) => self.path.push_index(index),
                None => {}
            }
        }
        self.frames.push(is_object);
        self.expected = if is_object { Expected::KeyOrEnd } else { Expected::ItemOrEnd };
        Ok(())
    }

    /// Closes the innermost array or object. Its last value is complete now, and itself may still change.
    fn close(&mut self) {
        self.frames.pop();
        self.last = self.path.pop();
        self.expected = Expected::CommaOrEnd;
        if self.frames.is_empty() {
            self.state = PartialState::Ended;
        }
    }

    fn add(&mut self, value: Value) {
        let key = std::mem::take(&mut self.key);
        self.last = match self.container() {
            Some(Value::Object(object)) => {
                object.insert(key.as_str(), value);
                Some(Segment::Key(key))
            }
            Some(Value::Array(items)) => {
                items.push(value);
                Some(Segment::Index(items.len() - 1))
            }
            _ => None,
        };
    }

    /// Reads the string up to its end or to the end of what has arrived.
    fn read_string(&mut self, text: &str, byte: u8) -> Result<(), Halt> {
        let rest = text.get(self.at..).unwrap_or_default();
        let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
        let (run, escape): (Cow<'_, str>, usize) = match byte {
            b'"' => {
                self.at += 1;
                if self.expected == Expected::InKey {
                    self.expected = Expected::Colon;
                } else {
                    self.add_run();
                    self.expected = Expected::CommaOrEnd;
                }
                return Ok(());
            }
            b'\\' => {
                let len = escape_len(rest).ok_or(Halt::Unfinished)?;
                let quoted = format!("\"{}\"", rest.get(..len).ok_or(Halt::Damaged)?);
                let Ok(Value::String(text)) = Value::parse(&quoted) else { return Err(Halt::Damaged) };
                (text.into(), len)
            }
            // Raw line breaks in strings are kept when the text is repaired.
            b'\n' | b'\r' | b'\t' if self.expected == Expected::InString => (char::from(byte).to_string().into(), 1),
            0..0x20 => return Err(Halt::Damaged),
            _ => (rest.get(..plain).unwrap_or_default().into(), plain),
        };
        let target = if self.expected == Expected::InKey { &mut self.key } else { &mut self.run };
        target.push_str(&run);
        self.at += escape;
        Ok(())
    }

    fn add_run(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        let last = self.last.clone();
        let open = match (self.container(), last) {
            (Some(Value::Object(object)), Some(Segment::Key(key))) => object.get_mut(&key),
            (Some(Value::Array(items)), Some(Segment::Index(index))) => items.get_mut(index),
            _ => None,
        };
        if let Some(Value::String(text)) = open {
            text.push_str(&run);
        }
    }

    fn read_scalar(&mut self, text: &str, start: usize, byte: u8) -> Result<(), Halt> {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.') {
            self.at += 1;
            return Ok(());
        }
        let token = text.get(start..self.at).unwrap_or_default();
        let value = Value::parse(token).map_err(|_| Halt::Damaged)?;
        self.add(value);
        self.expected = Expected::CommaOrEnd;
        Ok(())
    }
}

/// The length of the escape at the start of the text, with both halves of a surrogate pair; `None` if it has not arrived.
fn escape_len(text: &str) -> Option<usize> {
    match text.as_bytes().get(1)? {
        b'u' => {
            let is_first_half =
                matches!(text.as_bytes().get(2..4)?, [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']);
            let len = if is_first_half { 12 } else { 6 };
            (text.len() >= len).then_some(len)
        }
        _ => Some(2),
    }
}

/// Searches for the first bracket that is set apart as an answer: at the start of a line, or after a colon, an equals sign, a tag
/// or a fence.
#[derive(Debug, Default)]
pub(super) struct StartFinder {
    at: usize,
    /// The tag of the reasoning in which the search is.
    reasoning: Option<&'static str>,
    /// The last visible character on this line.
    last: Option<u8>,
}

impl StartFinder {
    /// The offset of the bracket; `None` if it has not arrived.
    pub(super) fn advance(&mut self, text: &str) -> Option<usize> {
        while let Some(byte) = text.as_bytes().get(self.at).copied() {
            match byte {
                b'<' if !self.read_tag(text.as_bytes().get(self.at..).unwrap_or_default()) => return None,
                b'{' | b'[' if self.reasoning.is_none() && self.is_set_apart() => return Some(self.at),
                b'\n' | b'\r' => self.last = None,
                _ => {}
            }
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                self.last = Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn is_set_apart(&self) -> bool {
        self.last.is_none_or(|last| matches!(last, b':' | b'=' | b'>' | b'`'))
    }

    /// Enters or leaves the reasoning if a tag of it begins here; false if that is not known before more of the text has arrived.
    fn read_tag(&mut self, rest: &[u8]) -> bool {
        let is_closing = rest.get(1) == Some(&b'/');
        let name = rest.get(if is_closing { 2 } else { 1 }..).unwrap_or_default();
        for tag in REASONING_TAGS {
            let whole = tag.bytes().chain([b'>']);
            if name.len() <= tag.len() && whole.clone().take(name.len()).eq(name.iter().copied()) {
                return false;
            }
            if whole.eq(name.iter().copied().take(tag.len() + 1)) {
                match (self.reasoning, is_closing) {
                    (None, false) => self.reasoning = Some(tag),
                    (Some(open), true) if open == tag => self.reasoning = None,
                    _ => {}
                }
                return true;
            }
        }
        true
    }
}
