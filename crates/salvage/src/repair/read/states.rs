//! The tolerant parser: one pass over text that should be JSON, with an explicit stack.
//!
//! ```text
//! Value --scalar, attach--> AfterValue --`,`--> Item or Key --> Value ...
//!   '---bracket--> Item or Key (one frame deeper)
//!                           '--bracket, attach--> AfterValue (one frame up)
//! ```
//!
//! Each state looks at the next character and returns the next state. The parser does not recurse, so a text cannot
//! exhaust the stack, and it reads nothing twice except for short, bounded lookaheads.

use reknit_protocol::{Object, Value};

use super::arithmetic::find_end;
use super::cursor::LOOKAHEAD;
use super::parser::{Frame, Opening, Parser, Role};
use super::reading::{ParseFailure, ParseResult};
use super::unquoted::Unquoted;
use crate::fix::FixKind;

/// What the parser expects next.
pub(super) enum State {
    Value,
    Item,
    Key,
    AfterValue,
    CallEnd,
    Finished,
}

impl Parser<'_> {
    /// Reads one value from the current position; `None` if the text ends before a value begins.
    pub(super) fn read_value(&mut self) -> ParseResult<Option<Value>> {
        let mut state = State::Value;
        loop {
            state = match state {
                State::Value => self.begin_value()?,
                State::Item => self.read_item()?,
                State::Key => self.read_key()?,
                State::AfterValue => self.after_value()?,
                State::CallEnd => self.end_call()?,
                State::Finished => return Ok(self.result.take()),
            };
        }
    }

    fn begin_value(&mut self) -> ParseResult<State> {
        self.skip_space_and_comments();
        let Some(byte) = self.peek() else { return Ok(self.close_truncated()) };
        match byte {
            b'{' if self.is_template() => self.begin_unquoted(),
            b'{' => self.open_frame(Frame::Object { object: Object::new(), key: None, opening: Opening::Brace }),
            b'[' => self.open_frame(Frame::Array { items: Vec::new(), closer: b']' }),
            b'(' if self.role() != Role::TopLevel || self.is_whole_tuple() => {
                self.open_frame(Frame::Array { items: Vec::new(), closer: b')' })
            }
            b'\\' if self.is_escaped_text() => Err(Box::new(ParseFailure::Escaped(self.pos))),
            b'b' | b'f' | b'r' | b'u' if self.is_string_with_prefix() => {
                self.record(FixKind::Literal, self.slice(self.pos, self.pos + 1), "");
                self.pos += 1;
                Ok(State::Value)
            }
            b'/' if self.regular_expression_end().is_some() => {
                let source = self.read_regular_expression();
                Ok(self.attach(source))
            }
            b']' | b'}' | b')' | b',' | b':' => self.fail_expected("a value"),
            b'"' if find_end(self.text, self.pos, self.role()).is_some() => self.begin_unquoted(),
            b'*' if self.is_emphasised_string() => match self.read_emphasised(self.role())? {
                Some(text) => Ok(self.attach(Value::String(text))),
                None => Ok(self.close_truncated()),
            },
            _ if self.quote_here().is_some() => match self.read_quoted(self.role())? {
                Some(text) if self.is_key_outside_object(&text) => self.open_object_at_key(text),
                Some(text) => {
                    let text = self.append_concatenated(text)?;
                    Ok(self.attach(Value::String(text)))
                }
                None => Ok(self.close_truncated()),
            },
            _ => self.begin_unquoted(),
        }
    }

    fn begin_unquoted(&mut self) -> ParseResult<State> {
        // `a": 1}`: the text lost its first bracket and quote.
        if self.role() == Role::TopLevel && self.pos == 0 && self.is_key_without_first_quote() {
            let key = self.read_bare_key()?.unwrap_or_default();
            return self.open_object_at_key(key);
        }
        match self.read_unquoted()? {
            Unquoted::Value(value) => Ok(self.attach(value)),
            Unquoted::Call => self.open_frame(Frame::Call),
            Unquoted::EndOfText => Ok(self.close_truncated()),
        }
    }

    fn read_item(&mut self) -> ParseResult<State> {
        self.skip_space_and_comments();
        match self.peek() {
            None => Ok(self.close_truncated()),
            Some(b',') => Ok(self.skip_extra_commas(State::Item)),
            Some(byte @ (b']' | b'}' | b')')) => self.close(byte),
            Some(_) if self.skip_elision() => Ok(State::Item),
            Some(_) if self.is_closing_fence(self.pos) => Ok(self.close_truncated()),
            Some(b'<') if self.is_closing_tag(self.pos) => Ok(self.close_before_tag()),
            Some(_) => Ok(State::Value),
        }
    }

    fn read_key(&mut self) -> ParseResult<State> {
        self.skip_space_and_comments();
        match self.peek() {
            None => Ok(self.close_truncated()),
            Some(b',') => Ok(self.skip_extra_commas(State::Key)),
            Some(byte @ (b']' | b'}' | b')')) => self.close(byte),
            Some(b'{') => self.read_brace_for_key(),
            Some(b'\\') if self.is_escaped_text() => Err(Box::new(ParseFailure::Escaped(self.pos))),
            Some(_) if self.skip_elision() || self.skip_words_before_key() => Ok(State::Key),
            Some(_) if self.is_closing_fence(self.pos) => Ok(self.close_truncated()),
            Some(b'<') if self.is_closing_tag(self.pos) => Ok(self.close_before_tag()),
            Some(_) => {
                let start = self.pos;
                let key =
                    if self.quote_here().is_some() { self.read_quoted(Role::Key)? } else { self.read_bare_key()? };
                let Some(key) = key else { return Ok(self.close_truncated()) };
                if let Some(Frame::Object { key: slot, .. }) = self.stack.last_mut() {
                    *slot = Some(key);
                }
                self.read_colon(start)
            }
        }
    }

    pub(super) fn read_colon(&mut self, key_start: usize) -> ParseResult<State> {
        self.skip_space_and_comments();
        if self.peek() == Some(b'"') && self.byte(self.after_whitespace(self.pos + 1)) == b':' {
            self.record(FixKind::Quotes, "\"\"", "\"");
            self.pos = self.after_whitespace(self.pos + 1);
        }
        match self.peek() {
            None => return Ok(self.close_truncated()),
            Some(b':') => {
                self.pos += 1;
                // `a := 1`
                if self.peek() == Some(b'=') {
                    self.record(FixKind::StrayText, self.slice(self.pos, self.pos + 1), "");
                    self.pos += 1;
                }
            }
            Some(b'-') if self.byte(self.pos + 1) == b'>' => {
                self.record(FixKind::MissingColon, "->", ":");
                self.pos += 2;
            }
            Some(b'=') => {
                let end = self.pos + if self.byte(self.pos + 1) == b'>' { 2 } else { 1 };
                self.record(FixKind::MissingColon, self.slice(self.pos, end), ":");
                self.uses_equals_signs = true;
                self.pos = end;
            }
            Some(_) if self.starts_value(self.pos) => {
                self.drop_colon_of_key();
                self.record(FixKind::MissingColon, "", ":");
            }
            Some(b',') if self.byte(key_start) == b'\'' && self.is_set() => return Ok(self.read_as_set()),
            Some(_) => return self.fail_expected("`:` after the key"),
        }
        self.skip_space_and_comments();
        match self.peek() {
            Some(byte @ (b',' | b'}' | b']' | b')')) if byte == b',' || self.closes_open_frame(byte) => {
                self.record(FixKind::MissingValue, self.slice(key_start, self.pos), "");
                self.forget_key();
                Ok(State::AfterValue)
            }
            _ => Ok(State::Value),
        }
    }

    /// Drops the colon at the end of a key, which stands inside of its quotes: `"a:" 1`.
    fn drop_colon_of_key(&mut self) {
        if let Some(Frame::Object { key: Some(key), .. }) = self.stack.last_mut()
            && key.len() > 1
            && key.ends_with(':')
        {
            key.pop();
        }
    }

    /// Whether the string that was just read in place of the first key is an item of a set: `{'a', 'b'}`.
    fn is_set(&self) -> bool {
        let is_first =
            matches!(self.stack.last(), Some(Frame::Object { object, key: Some(_), .. }) if object.is_empty());
        let items = self.slice(self.pos, self.pos + LOOKAHEAD);
        let mut quote = None;
        let end = items.bytes().position(|byte| match (quote, byte) {
            (Some(open), byte) => {
                quote = Some(open).filter(|open| *open != byte);
                false
            }
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                false
            }
            (None, byte) => matches!(byte, b':' | b'=' | b'{' | b'[' | b'}' | b']'),
        });
        is_first && items.starts_with(',') && end.is_some_and(|end| items.as_bytes().get(end) == Some(&b'}'))
    }

    /// Makes an array of the object that was opened, with its key as the first item.
    fn read_as_set(&mut self) -> State {
        let Some(Frame::Object { key: Some(key), .. }) = self.pop_frame() else { return State::AfterValue };
        let set = Frame::Array { items: Vec::new(), closer: b'}' };
        *self.open.count_for(&set) += 1;
        self.stack.push(set);
        self.record(FixKind::Tuple, "{", "[");
        self.attach(Value::String(key))
    }

    fn forget_key(&mut self) {
        if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
            *key = None;
        }
    }

    /// Adds a complete value to the innermost open frame.
    pub(super) fn attach(&mut self, value: Value) -> State {
        let duplicate = match self.stack.last_mut() {
            None => {
                self.result = Some(value);
                return State::Finished;
            }
            Some(Frame::Call) => {
                self.result = Some(value);
                return State::CallEnd;
            }
            Some(Frame::Array { items, .. }) => {
                items.push(value);
                return State::AfterValue;
            }
            Some(Frame::Object { object, key, .. }) => match key.take() {
                None => None,
                Some(name) => match object.insert_null(name) {
                    Ok(slot) => {
                        *slot = value;
                        None
                    }
                    Err(name) => {
                        let after = value.to_string();
                        let before = object.insert(name.as_str(), value).unwrap_or_default().to_string();
                        *key = Some(name);
                        Some((before, after))
                    }
                },
            },
        };
        if let Some((before, after)) = duplicate {
            self.record(FixKind::DuplicateKey, &before, after);
            self.forget_key();
        }
        State::AfterValue
    }

    fn after_value(&mut self) -> ParseResult<State> {
        let in_object = matches!(self.stack.last(), Some(Frame::Object { .. }));
        let next = if in_object { State::Key } else { State::Item };
        let newline = self.skip_space_and_comments();
        match self.peek() {
            None => Ok(self.close_truncated()),
            Some(b',') => {
                self.pos += 1;
                self.skip_space_and_comments();
                if let Some(b']' | b'}' | b')') = self.peek() {
                    self.record(FixKind::ExtraComma, ",", "");
                }
                Ok(next)
            }
            Some(byte @ (b']' | b'}' | b')')) => self.close(byte),
            Some(b'{') if in_object && self.open.arrays > 0 => {
                self.record(FixKind::MissingBracket, "{", "}, {");
                Ok(self.close_frame())
            }
            Some(_) if self.skip_elision() => Ok(next),
            Some(_) if self.is_closing_fence(self.pos) => Ok(self.close_truncated()),
            Some(b'<') if self.is_closing_tag(self.pos) => Ok(self.close_before_tag()),
            Some(b';') if self.is_separator(self.pos) => {
                self.record(FixKind::Semicolon, ";", ",");
                self.pos += 1;
                Ok(next)
            }
            Some(_) if in_object && self.skip_words_after_value() => Ok(State::AfterValue),
            Some(_) if in_object && !newline && !self.looks_like_key(self.pos) => self.fail_expected("`,` or `}`"),
            Some(b':') => self.fail_expected("`,` or `]`"),
            Some(_) => {
                self.record(FixKind::MissingComma, "", ",");
                Ok(next)
            }
        }
    }

    fn end_call(&mut self) -> ParseResult<State> {
        self.skip_space_and_comments();
        match self.peek() {
            Some(b')') => self.pos += 1,
            None => self.truncated = true,
            Some(_) => return self.fail_expected("`)`"),
        }
        self.pop_frame();
        Ok(self.result.take().map_or(State::Finished, |value| self.attach(value)))
    }
}
