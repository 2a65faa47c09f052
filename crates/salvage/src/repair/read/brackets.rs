//! Brackets and parentheses: opening and closing frames, and repairing brackets that are wrong, missing or superfluous.

use reknit_protocol::{MAX_DEPTH, Value};

use super::parser::{Frame, Opening, Parser};
use super::reading::{ParseFailure, ParseResult};
use super::states::State;
use crate::fix::FixKind;

impl Parser<'_> {
    pub(super) fn open_frame(&mut self, frame: Frame) -> ParseResult<State> {
        // One level is reserved for the array around a sequence of values.
        if self.stack.len() + 1 >= MAX_DEPTH {
            return Err(Box::new(ParseFailure::TooDeep(self.pos)));
        }
        self.pos += 1;
        *self.open.count_for(&frame) += 1;
        let state = match &frame {
            Frame::Array { .. } => State::Item,
            Frame::Object { .. } => State::Key,
            Frame::Call => State::Value,
        };
        self.stack.push(frame);
        Ok(state)
    }

    pub(super) fn pop_frame(&mut self) -> Option<Frame> {
        let frame = self.stack.pop()?;
        *self.open.count_for(&frame) -= 1;
        Some(frame)
    }

    /// Handles `{` in place of a key: the second of doubled braces as in templates, or the next object after one that
    /// was not closed.
    pub(super) fn read_brace_for_key(&mut self) -> ParseResult<State> {
        let follows_key = {
            let at = self.after_whitespace(self.pos + 1);
            self.quote_at(at).is_some() || self.byte(at).is_ascii_alphabetic()
        };
        let in_array = matches!(self.stack.iter().rev().nth(1), Some(Frame::Array { closer: b']', .. }));
        match self.stack.last_mut() {
            Some(Frame::Object { object, opening, .. })
                if object.is_empty() && follows_key && *opening == Opening::Brace =>
            {
                *opening = Opening::DoubleBrace;
                self.record(FixKind::ExtraBracket, "{{", "{");
                self.pos += 1;
                Ok(State::Key)
            }
            _ if in_array => {
                self.record(FixKind::MissingBracket, "{", "}, {");
                Ok(self.close_frame())
            }
            _ => self.fail_expected("a key"),
        }
    }

    pub(super) fn close(&mut self, byte: u8) -> ParseResult<State> {
        let right = self.stack.last().map_or(b')', Frame::closer);
        if byte == right {
            if self.closes_too_early(byte) {
                return Ok(self.drop_bracket(byte));
            }
            self.pos += 1;
            if let Some(Frame::Object { opening: Opening::DoubleBrace, .. }) = self.stack.last()
                && self.byte(self.pos) == b'}'
            {
                self.pos += 1;
            }
            return Ok(self.close_frame());
        }
        let [found, wanted] = [byte, right].map(char::from);
        if self.is_wrong_for_array(byte) {
            return Ok(self.replace_bracket(byte, right));
        }
        if self.closes_open_frame(byte) && self.closes_too_much() {
            return Ok(self.drop_bracket(byte));
        }
        if self.closes_open_frame(byte) {
            self.record(FixKind::MissingBracket, found.encode_utf8(&mut [0; 4]), String::from_iter([wanted, found]));
            return Ok(self.close_frame());
        }
        if self.may_follow_in_parent(self.pos + 1) {
            return Ok(self.replace_bracket(byte, right));
        }
        if !self.follows_opening_bracket(self.pos) && self.may_follow_here(self.pos + 1) {
            return Ok(self.drop_bracket(byte));
        }
        self.fail_expected(match right {
            b']' => "`]`",
            b'}' => "`}`",
            _ => "`)`",
        })
    }

    pub(super) fn closes_open_frame(&self, byte: u8) -> bool {
        match byte {
            b']' => self.open.arrays > 0,
            b'}' => self.open.objects > 0,
            _ => self.open.parentheses > 0,
        }
    }

    /// Whether the text from `at` on can follow the current value inside its parent. Only then is a wrong bracket a typo
    /// for the right one.
    fn may_follow_in_parent(&self, at: usize) -> bool {
        let at = self.after_whitespace(at);
        let next = self.byte(at);
        at >= self.text.len()
            || match self.stack.iter().rev().nth(1) {
                None => false,
                Some(Frame::Array { closer, .. }) => next == b',' || next == *closer,
                Some(Frame::Object { .. }) => next == b',' || next == b'}',
                Some(Frame::Call) => next == b')',
            }
    }

    /// Whether the text ends with the brackets that close every open frame. If so, an unterminated string lost its
    /// quote, and the text is not truncated.
    pub(super) fn ends_with_all_closers(&mut self) -> bool {
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

    pub(super) fn close_frame(&mut self) -> State {
        match self.pop_frame() {
            Some(Frame::Array { items, closer: b')' }) => {
                let value = self.close_parentheses(items);
                self.attach(value)
            }
            Some(Frame::Array { items, .. }) => self.attach(Value::Array(items)),
            Some(Frame::Object { object, .. }) => self.attach(Value::Object(object)),
            Some(Frame::Call) | None => State::Finished,
        }
    }

    /// Closes every open frame, because the text ended early.
    pub(super) fn close_truncated(&mut self) -> State {
        if self.stack.is_empty() {
            return State::Finished;
        }
        self.truncated = true;
        let tail = self.slice(self.text.floor_char_boundary(self.pos.saturating_sub(40)), self.text.len());
        self.record(FixKind::CutTail, tail, self.missing_closers());
        self.pos = self.text.len();
        self.close_all()
    }

    /// Closes every open frame before a closing tag, which shows that nothing else is missing.
    pub(super) fn close_before_tag(&mut self) -> State {
        self.record(FixKind::MissingBracket, "", self.missing_closers());
        self.close_all()
    }

    fn missing_closers(&self) -> String {
        self.stack.iter().rev().map(|frame| char::from(frame.closer())).collect()
    }

    fn close_all(&mut self) -> State {
        let mut value: Option<Value> = None;
        while let Some(frame) = self.pop_frame() {
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
        self.result = value;
        State::Finished
    }

    /// Whether the parenthesis here opens a tuple that is the whole text, and not a remark: `(1, 2)`, but not `(see below)`.
    pub(super) fn is_whole_tuple(&self) -> bool {
        let inside = self.rest().trim_start_matches(['(', ' ', '\t', '\n', '\r']);
        let at = self.text.len() - inside.len();
        self.text.trim_end().ends_with(')') && self.starts_value(at)
    }

    /// The value of closed parentheses: an array, or the only item if no comma follows it.
    pub(super) fn close_parentheses(&mut self, mut items: Vec<Value>) -> Value {
        let inside = self.text.get(..self.pos).unwrap_or_default().trim_end_matches([')', ' ', '\t', '\n', '\r']);
        if items.len() == 1
            && !inside.ends_with(',')
            && let Some(only) = items.pop()
        {
            self.record(FixKind::Parentheses, "(", "");
            return only;
        }
        self.record(FixKind::Tuple, "(", "[");
        Value::Array(items)
    }
}
