//! Brackets: opening and closing frames, and what to do with a bracket that is wrong, missing or too many.

use reknit_protocol::{MAX_DEPTH, Value};

use super::{
    failure::{Failure, Step},
    parser::{Frame, Parser, State},
};
use crate::fix::FixKind;

impl Parser<'_> {
    pub(super) fn push(&mut self, frame: Frame) -> Step<State> {
        // One level is kept free: a sequence of values becomes an array around them.
        if self.stack.len() + 1 >= MAX_DEPTH {
            return Err(Box::new(Failure::TooDeep { at: self.pos }));
        }
        self.pos += 1;
        let state = match &frame {
            Frame::Array { closer: b')', .. } => (State::Item, self.open.rounds += 1).0,
            Frame::Array { .. } => (State::Item, self.open.arrays += 1).0,
            Frame::Object { .. } => (State::Key, self.open.objects += 1).0,
            Frame::Call => (State::Value, self.open.rounds += 1).0,
        };
        self.stack.push(frame);
        Ok(state)
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = self.stack.pop()?;
        match &frame {
            Frame::Array { closer: b')', .. } | Frame::Call => self.open.rounds -= 1,
            Frame::Array { .. } => self.open.arrays -= 1,
            Frame::Object { .. } => self.open.objects -= 1,
        }
        Some(frame)
    }

    /// `{` where a key must stand: braces doubled as templates want them, or the end of an unclosed object.
    pub(super) fn brace_for_key(&mut self) -> Step<State> {
        let follows_key = {
            let at = self.skip_blanks(self.pos + 1);
            self.quote_at(at).is_some() || self.byte(at).is_ascii_alphabetic()
        };
        let in_array = matches!(self.stack.iter().rev().nth(1), Some(Frame::Array { closer: b']', .. }));
        match self.stack.last_mut() {
            Some(Frame::Object { object, doubled, .. }) if object.is_empty() && follows_key && !*doubled => {
                *doubled = true;
                self.fix(FixKind::ExtraBracket, "{{", "{");
                self.pos += 1;
                Ok(State::Key)
            }
            _ if in_array => {
                self.fix(FixKind::MissingBracket, "{", "}, {");
                Ok(self.pop_value())
            }
            _ => self.expected("a key"),
        }
    }

    pub(super) fn close(&mut self, byte: u8) -> Step<State> {
        let right = self.stack.last().map_or(b')', Frame::closer);
        if byte == right {
            self.pos += 1;
            if let Some(Frame::Object { doubled: true, .. }) = self.stack.last()
                && self.byte(self.pos) == b'}'
            {
                self.pos += 1;
            }
            return Ok(self.pop_value());
        }
        let [found, wanted] = [byte, right].map(char::from);
        if self.closes_outer(byte) {
            self.fix(FixKind::MissingBracket, found.encode_utf8(&mut [0; 4]), String::from_iter([wanted, found]));
            return Ok(self.pop_value());
        }
        if self.suits_parent(self.pos + 1) {
            self.fix(FixKind::WrongBracket, found.encode_utf8(&mut [0; 4]), wanted.to_string());
            self.pos += 1;
            return Ok(self.pop_value());
        }
        self.expected(match right {
            b']' => "`]`",
            b'}' => "`}`",
            _ => "`)`",
        })
    }

    /// Whether a frame further out is closed by `byte`.
    pub(super) fn closes_outer(&self, byte: u8) -> bool {
        match byte {
            b']' => self.open.arrays > 0,
            b'}' => self.open.objects > 0,
            _ => self.open.rounds > 0,
        }
    }

    /// Whether what follows at `at` can follow the current value inside its parent: a wrong bracket is only then
    /// a slip for the right one.
    fn suits_parent(&self, at: usize) -> bool {
        let at = self.skip_blanks(at);
        let next = self.byte(at);
        at >= self.text.len()
            || match self.stack.iter().rev().nth(1) {
                None => false,
                Some(Frame::Array { closer, .. }) => next == b',' || next == *closer,
                Some(Frame::Object { .. }) => next == b',' || next == b'}',
                Some(Frame::Call) => next == b')',
            }
    }

    /// Whether the text ends with the brackets that close every open frame: then a string without an end lost its
    /// quote, and nothing was cut.
    pub(super) fn is_closed_behind(&mut self) -> bool {
        let text = self.text;
        let closers = self.last_closers.get_or_insert_with(|| {
            let space = |byte: &u8| byte.is_ascii_whitespace();
            text.bytes()
                .rev()
                .filter(|byte| !space(byte))
                .take_while(|byte| matches!(byte, b']' | b'}' | b')'))
                .take(MAX_DEPTH)
                .collect()
        });
        let wanted = self.stack.iter().map(Frame::closer);
        !self.stack.is_empty()
            && closers.len() >= self.stack.len()
            && wanted.eq(closers.iter().copied().take(self.stack.len()))
    }

    pub(super) fn pop_value(&mut self) -> State {
        match self.pop() {
            Some(Frame::Array { items, .. }) => self.attach(Value::Array(items)),
            Some(Frame::Object { object, .. }) => self.attach(Value::Object(object)),
            Some(Frame::Call) | None => State::Finished,
        }
    }

    /// The text ended early: closes every open frame around what is there.
    pub(super) fn cut(&mut self) -> State {
        if self.stack.is_empty() {
            return State::Finished;
        }
        self.truncated = true;
        let tail = self.slice(self.text.floor_char_boundary(self.pos.saturating_sub(40)), self.text.len());
        let closers: String = self.stack.iter().rev().map(|frame| char::from(frame.closer())).collect();
        self.fix(FixKind::CutTail, tail, closers);
        self.pos = self.text.len();
        let mut value: Option<Value> = None;
        while let Some(frame) = self.pop() {
            value = match frame {
                Frame::Call => value,
                Frame::Array { mut items, .. } => {
                    items.extend(value);
                    Some(Value::Array(items))
                }
                Frame::Object { mut object, key, .. } => {
                    if let (Some(key), Some(value)) = (key, value) {
                        object.insert(key, value);
                    }
                    Some(Value::Object(object))
                }
            };
        }
        self.held = value;
        State::Finished
    }
}
