//! Closing brackets in the wrong place, judged by the text after them: one that closes too early, closes too much, or closes
//! nothing. Without these repairs the text behind the bracket would be read as something else than it is.

use reknit_protocol::{Object, Value};

use super::cursor::LOOKAHEAD;
use super::parser::{Frame, Opening, Parser, QuoteRule, Role};
use super::reading::ParseResult;
use super::states::State;
use crate::fix::FixKind;

impl Parser<'_> {
    /// Whether the innermost frame goes on after the bracket that would close it: `{"a": 1}, "b": 2}`, `{"a": [1], 2]}`.
    pub(super) fn closes_too_early(&self, bracket: u8) -> bool {
        let parent = self.stack.iter().rev().nth(1);
        match (self.stack.last(), parent) {
            (Some(Frame::Object { opening, .. }), None | Some(Frame::Array { .. })) if bracket == b'}' => {
                *opening != Opening::Missing
                    && self.continues_object(self.pos + 1)
                    && !(parent.is_some() && self.lacks_array_end(self.pos + 1, 2))
            }
            (Some(Frame::Array { items, closer: b']' }), Some(Frame::Object { .. })) => {
                self.continues_array(items, self.pos + 1)
            }
            _ => false,
        }
    }

    /// Whether a `}` stands for the `]` of an array: `{"a": ["x"}, "b": 1}`.
    pub(super) fn is_wrong_for_array(&self, bracket: u8) -> bool {
        let mut frames = self.stack.iter().rev();
        let (array, object, parent) = (frames.next(), frames.next(), frames.next());
        bracket == b'}'
            && matches!(array, Some(Frame::Array { closer: b']', .. }))
            && matches!(object, Some(Frame::Object { .. }))
            && !matches!(parent, Some(Frame::Object { .. }))
            && self.continues_object(self.pos + 1)
    }

    /// Whether a bracket that closes an outer frame would also close an array that goes on: `{"a": [{"b": 1}}, {"b": 2}]}`.
    pub(super) fn closes_too_much(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::Array { items, closer: b']' }) if self.continues_array(items, self.pos + 1))
    }

    /// Whether the text from `at` on can follow in the innermost frame, so that the bracket before it is superfluous.
    pub(super) fn may_follow_here(&self, at: usize) -> bool {
        let next = self.byte(self.after_whitespace(at));
        next == b',' || self.stack.last().is_some_and(|frame| frame.closer() == next)
    }

    pub(super) fn drop_bracket(&mut self, bracket: u8) -> State {
        self.record(FixKind::ExtraBracket, char::from(bracket).encode_utf8(&mut [0; 4]), "");
        self.pos += 1;
        State::AfterValue
    }

    pub(super) fn replace_bracket(&mut self, found: u8, wanted: u8) -> State {
        self.record(FixKind::WrongBracket, char::from(found).encode_utf8(&mut [0; 4]), char::from(wanted).to_string());
        self.pos += 1;
        self.close_frame()
    }

    /// Whether a quoted key follows at `at`, after a comma.
    fn continues_object(&self, at: usize) -> bool {
        let next = self.after_whitespace(at);
        // A key without a comma before it is one only if there is a colon after it.
        if self.byte(next) != b',' {
            return self.is_quoted_key(next);
        }
        let key = self.after_whitespace(next + 1);
        self.is_quoted_key(key) || (self.looks_like_two_strings(key) && self.text.trim_end().ends_with('}'))
    }

    /// Whether an item of the same kind as the last one follows at `at`, after a comma, and then the end of an array.
    fn continues_array(&self, items: &[Value], at: usize) -> bool {
        let comma = self.after_whitespace(at);
        if self.byte(comma) != b',' {
            return false;
        }
        let item = self.after_whitespace(comma + 1);
        let is_same_kind = matches!(
            (items.last(), self.byte(item)),
            (Some(Value::Object(_)), b'{')
                | (Some(Value::Array(_)), b'[')
                | (Some(Value::Number(_)), b'-' | b'0'..=b'9')
                | (Some(Value::String(_)), b'"' | b'\'')
        );
        // A key before the end of the array belongs to the object around it.
        let ends_array = || {
            let next = self.at_this_depth(item, LOOKAHEAD, b"\"'").find(|byte| matches!(byte, b']' | b':'));
            next == Some(b']')
        };
        is_same_kind && ends_array()
    }

    /// The bytes from `at` on that are neither in quotes nor in brackets; brackets that nothing opened are among them.
    fn at_this_depth(&self, at: usize, limit: usize, quotes: &[u8]) -> impl Iterator<Item = u8> {
        let (mut depth, mut quote) = (0_usize, None);
        self.text.as_bytes().iter().copied().skip(at).take(limit).filter(move |byte| {
            match (quote, byte) {
                (Some(open), byte) if open == *byte => quote = None,
                (Some(_), _) => {}
                (None, byte) if quotes.contains(byte) => quote = Some(*byte),
                (None, b'[' | b'{') => depth += 1,
                (None, b']' | b'}') if depth > 0 => depth -= 1,
                (None, _) => return depth == 0,
            }
            false
        })
    }

    /// Whether the array around a key that follows at `at` lacks its end: it is in an object, and of the closing brackets after
    /// the key, the one at `number` does not close an array.
    fn lacks_array_end(&self, at: usize, number: usize) -> bool {
        let mut frames = self.stack.iter().rev().skip_while(|frame| !matches!(frame, Frame::Array { .. })).skip(1);
        let mut closers = self.at_this_depth(at, 4 * LOOKAHEAD, b"\"").filter(|byte| matches!(byte, b']' | b'}'));
        matches!(frames.next(), Some(Frame::Object { .. })) && closers.nth(number - 1) != Some(b']')
    }

    /// Whether the string that was just read is a key, although no object is open here: `["k": "v"]`.
    pub(super) fn is_key_outside_object(&self, text: &str) -> bool {
        let may_be_key = match self.role() {
            Role::Item | Role::TopLevel => true,
            // `{"a": "b": 1}`
            Role::Member => {
                let in_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
                self.quote_rule == QuoteRule::ByStructure && text.chars().all(in_key)
            }
            Role::Key | Role::Argument => false,
        };
        may_be_key && self.starts_with_colon_and_value(self.pos)
    }

    /// Opens the object that the key belongs to, or closes the array if the key belongs to the object around it.
    pub(super) fn open_object_at_key(&mut self, key: String) -> ParseResult<State> {
        let at = self.pos;
        if self.role() == Role::Item && self.lacks_array_end(at, 1) {
            self.record(FixKind::MissingBracket, "", "]");
            self.close_frame();
            if let Some(Frame::Object { key: slot, .. }) = self.stack.last_mut() {
                *slot = Some(key);
            }
            return self.read_colon(at);
        }
        self.record(FixKind::MissingBracket, "", "{");
        self.open_frame(Frame::Object { object: Object::new(), key: Some(key), opening: Opening::Missing })?;
        // No bracket was read.
        self.pos = at;
        self.read_colon(at)
    }

    /// Whether a colon with a value after it follows at `at`.
    pub(super) fn starts_with_colon_and_value(&self, at: usize) -> bool {
        let colon = self.after_whitespace(at);
        self.byte(colon) == b':' && self.starts_value(self.after_whitespace(colon + 1))
    }
}
