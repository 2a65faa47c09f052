//! The tolerant parser: one pass over text that ought to be JSON, with an explicit stack.
//!
//! ```text
//! Value --scalar, attach--> After --`,`--> Item or Key --> Value ...
//!   '---bracket--> Item or Key (one frame deeper)
//!                           '--bracket, attach--> After (one frame up)
//! ```
//!
//! Each state looks at the next character and answers with the next state. Nothing recurses, so a text cannot
//! exhaust the stack, and nothing is read twice except for short, bounded looks ahead.

use std::borrow::Cow;

use reknit_protocol::{Object, Path, Value};

use super::{
    failure::{Failure, Problem, Step},
    unquoted::Unquoted,
};
use crate::fix::{FixKind, Fixes};

/// Where a value stands; it decides what may follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Top,
    Key,
    Member,
    Item,
    Argument,
}

/// Whether a yes-or-no word that is the whole text is a boolean, or left to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum YesNo {
    Boolean,
    Word,
}

/// An array, object or call whose end is still to come.
#[derive(Debug)]
pub(super) enum Frame {
    Array { items: Vec<Value>, closer: u8 },
    Object { object: Object, key: Option<String>, doubled: bool },
    Call,
}

impl Frame {
    /// The bracket that closes it.
    pub(super) fn closer(&self) -> u8 {
        match self {
            Self::Array { closer, .. } => *closer,
            Self::Object { .. } => b'}',
            Self::Call => b')',
        }
    }
}

/// How many frames of each kind are open; a bracket that closes none of them closes nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Open {
    pub(super) arrays: usize,
    pub(super) objects: usize,
    pub(super) rounds: usize,
}

/// What the parser does next.
pub(super) enum State {
    Value,
    Item,
    Key,
    After,
    CallEnd,
    Finished,
}

#[derive(Debug)]
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
    pub(super) open: Open,
    pub(super) fixes: Fixes,
    pub(super) truncated: bool,
    pub(super) elided: bool,
    /// Paths of strings that are unquoted arithmetic.
    pub(super) arithmetic: Vec<Path>,
    pub(super) yes_no: YesNo,
    pub(super) no_end: super::quoted::NoEnd,
    /// The first segment of every path when the text holds a sequence of values.
    pub(super) sequence_index: Option<usize>,
    /// The brackets the text ends with, last first; found when first asked for.
    pub(super) last_closers: Option<Vec<u8>>,
    pub(super) stack: Vec<Frame>,
    /// The whole value, or the argument of a call until the call has ended.
    pub(super) held: Option<Value>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, pos: usize, yes_no: YesNo) -> Self {
        Self {
            text,
            pos,
            open: Open::default(),
            fixes: Fixes::default(),
            truncated: false,
            elided: false,
            arithmetic: Vec::new(),
            yes_no,
            no_end: super::quoted::NoEnd::default(),
            sequence_index: None,
            last_closers: None,
            stack: Vec::new(),
            held: None,
        }
    }

    /// Reads one value from the current position; `None` when the text ends before one begins.
    pub(super) fn value(&mut self) -> Step<Option<Value>> {
        let mut state = State::Value;
        loop {
            state = match state {
                State::Value => self.start()?,
                State::Item => self.item()?,
                State::Key => self.key()?,
                State::After => self.after()?,
                State::CallEnd => self.end_call()?,
                State::Finished => return Ok(self.held.take()),
            };
        }
    }

    /// What a value at the current position would be.
    pub(super) fn role(&self) -> Role {
        match self.stack.last() {
            None => Role::Top,
            Some(Frame::Array { .. }) => Role::Item,
            Some(Frame::Object { .. }) => Role::Member,
            Some(Frame::Call) => Role::Argument,
        }
    }

    /// Where the value being read stands in the result.
    pub(super) fn path(&self) -> Path {
        let mut path = Path::root();
        if let Some(index) = self.sequence_index {
            path.push_index(index);
        }
        for frame in &self.stack {
            match frame {
                Frame::Array { items, .. } => path.push_index(items.len()),
                Frame::Object { key: Some(key), .. } => path.push_key(key.as_str()),
                Frame::Object { key: None, .. } | Frame::Call => {}
            }
        }
        path
    }

    pub(super) fn fix<'a>(&mut self, kind: FixKind, before: &str, after: impl Into<Cow<'a, str>>) {
        let path = if self.fixes.lists_next() { self.path() } else { Path::root() };
        self.fixes.push(|| path, kind, before, after);
    }

    pub(super) fn fail<T>(&self, problem: impl Into<Problem>) -> Step<T> {
        Err(Box::new(Failure::Unreadable { at: self.pos, problem: problem.into() }))
    }

    pub(super) fn expected<T>(&self, what: &'static str) -> Step<T> {
        self.fail(Problem::Expected(what, self.rest().chars().next()))
    }

    fn start(&mut self) -> Step<State> {
        self.space();
        let Some(byte) = self.peek() else { return Ok(self.cut()) };
        match byte {
            b'{' if self.is_template() => self.unquoted_state(),
            b'{' => self.push(Frame::Object { object: Object::new(), key: None, doubled: false }),
            b'[' => self.push(Frame::Array { items: Vec::new(), closer: b']' }),
            b'(' if self.role() != Role::Top => {
                self.fix(FixKind::Tuple, "(", "[");
                self.push(Frame::Array { items: Vec::new(), closer: b')' })
            }
            b'\\' if self.byte(self.pos + 1) == b'"' => Err(Box::new(Failure::Escaped { at: self.pos })),
            b'/' if self.regular_expression_end().is_some() => Ok(self.regular_expression()),
            b']' | b'}' | b')' | b',' | b':' => self.expected("a value"),
            b'"' if super::arithmetic::end(self.text, self.pos, self.role()).is_some() => self.unquoted_state(),
            _ if self.quote_here().is_some() => match self.quoted(self.role())? {
                Some(text) => {
                    let text = self.concatenation(text)?;
                    Ok(self.attach(Value::String(text)))
                }
                None => Ok(self.cut()),
            },
            _ => self.unquoted_state(),
        }
    }

    fn unquoted_state(&mut self) -> Step<State> {
        match self.unquoted()? {
            Unquoted::Value(value) => Ok(self.attach(value)),
            Unquoted::Call => self.push(Frame::Call),
            Unquoted::Cut => Ok(self.cut()),
        }
    }

    fn regular_expression(&mut self) -> State {
        let (start, end) = (self.pos, self.regular_expression_end().unwrap_or(self.text.len()));
        let source = self.slice(start, end);
        self.fix(FixKind::RegularExpression, source, source);
        self.pos = end;
        self.attach(Value::from(source))
    }

    fn item(&mut self) -> Step<State> {
        self.space();
        match self.peek() {
            None => Ok(self.cut()),
            Some(b',') => Ok(self.extra_commas(State::Item)),
            Some(byte @ (b']' | b'}' | b')')) => self.close(byte),
            Some(_) if self.elision() => Ok(State::Item),
            Some(_) => Ok(State::Value),
        }
    }

    fn key(&mut self) -> Step<State> {
        self.space();
        match self.peek() {
            None => Ok(self.cut()),
            Some(b',') => Ok(self.extra_commas(State::Key)),
            Some(byte @ (b']' | b'}' | b')')) => self.close(byte),
            Some(b'{') => self.brace_for_key(),
            Some(b'\\') if self.byte(self.pos + 1) == b'"' => Err(Box::new(Failure::Escaped { at: self.pos })),
            Some(_) if self.elision() => Ok(State::Key),
            Some(_) => {
                let start = self.pos;
                let Some(key) = self.key_text()? else { return Ok(self.cut()) };
                if let Some(Frame::Object { key: slot, .. }) = self.stack.last_mut() {
                    *slot = Some(key);
                }
                self.colon(start)
            }
        }
    }

    fn key_text(&mut self) -> Step<Option<String>> {
        if self.quote_here().is_some() { self.quoted(Role::Key) } else { self.bare_key() }
    }

    fn colon(&mut self, key_start: usize) -> Step<State> {
        let key_end = self.pos;
        self.space();
        match self.peek() {
            None => return Ok(self.cut()),
            Some(b':') => self.pos += 1,
            Some(b'=') => {
                let end = self.pos + if self.byte(self.pos + 1) == b'>' { 2 } else { 1 };
                self.fix(FixKind::MissingColon, self.slice(self.pos, end), ":");
                self.pos = end;
            }
            Some(_) if self.starts_value_after_key() => {
                self.fix(FixKind::MissingColon, "", ":");
            }
            Some(_) => return self.expected("`:` after the key"),
        }
        self.space();
        match self.peek() {
            Some(b',' | b'}') => {
                let before = self.slice(key_start, key_end.max(self.pos));
                self.fix(FixKind::MissingValue, before, "");
                self.forget_key();
                Ok(State::After)
            }
            Some(byte @ (b']' | b')')) if self.closes_outer(byte) => {
                self.fix(FixKind::MissingValue, self.slice(key_start, self.pos), "");
                self.forget_key();
                Ok(State::After)
            }
            _ => Ok(State::Value),
        }
    }

    fn forget_key(&mut self) {
        if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
            *key = None;
        }
    }

    /// Puts a complete value where it belongs.
    pub(super) fn attach(&mut self, value: Value) -> State {
        let duplicate = match self.stack.last_mut() {
            None => {
                self.held = Some(value);
                return State::Finished;
            }
            Some(Frame::Call) => {
                self.held = Some(value);
                return State::CallEnd;
            }
            Some(Frame::Array { items, .. }) => {
                items.push(value);
                return State::After;
            }
            Some(Frame::Object { object, key, .. }) => match key.take() {
                None => None,
                Some(name) => match object.add(name) {
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
            self.fix(FixKind::DuplicateKey, &before, after);
            self.forget_key();
        }
        State::After
    }

    fn after(&mut self) -> Step<State> {
        let in_object = matches!(self.stack.last(), Some(Frame::Object { .. }));
        let next = if in_object { State::Key } else { State::Item };
        let newline = self.space();
        match self.peek() {
            None => Ok(self.cut()),
            Some(b',') => {
                self.pos += 1;
                self.space();
                if let Some(b']' | b'}' | b')') = self.peek() {
                    self.fix(FixKind::ExtraComma, ",", "");
                }
                Ok(next)
            }
            Some(byte @ (b']' | b'}' | b')')) => self.close(byte),
            Some(b'{') if in_object && self.open.arrays > 0 => {
                self.fix(FixKind::MissingBracket, "{", "}, {");
                Ok(self.pop_value())
            }
            Some(_) if self.elision() => Ok(next),
            Some(_) if in_object && !newline && !self.looks_like_key(self.pos) => self.expected("`,` or `}`"),
            Some(b':') => self.expected("`,` or `]`"),
            Some(_) => {
                self.fix(FixKind::MissingComma, "", ",");
                Ok(next)
            }
        }
    }

    fn end_call(&mut self) -> Step<State> {
        self.space();
        match self.peek() {
            Some(b')') => self.pos += 1,
            None => self.truncated = true,
            Some(_) => return self.expected("`)`"),
        }
        self.pop();
        Ok(self.held.take().map_or(State::Finished, |value| self.attach(value)))
    }

    fn extra_commas(&mut self, next: State) -> State {
        let start = self.pos;
        while self.peek() == Some(b',') {
            self.pos += 1;
            self.space();
        }
        self.fix(FixKind::ExtraComma, self.slice(start, self.pos), "");
        next
    }

    /// Reads `...` that stands for items left out, with the comma behind it.
    fn elision(&mut self) -> bool {
        // Asked behind every value: one byte says no to nearly all.
        if !matches!(self.peek(), Some(b'.' | 0xE2)) {
            return false;
        }
        let rest = self.rest();
        let Some(len) = ["...", "…"].iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len()) else {
            return false;
        };
        self.fix(FixKind::Elision, self.slice(self.pos, self.pos + len), "");
        self.elided = true;
        self.pos += len;
        self.space();
        if self.peek() == Some(b',') {
            self.pos += 1;
        }
        true
    }
}
