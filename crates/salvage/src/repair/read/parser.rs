//! What the tolerant parser knows while it reads: its position, the open brackets, and the repairs that it made.

use std::collections::HashMap;

use reknit_protocol::{Object, Path, Value};

use super::reading::{FailureReason, ParseFailure, ParseResult};
use crate::fix::{FixKind, FixList};

/// The role of a value in its surroundings. It decides what may follow the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    TopLevel,
    Key,
    Member,
    Item,
    Argument,
}

/// How to read a yes-or-no word that is the whole text: as a boolean, or as text for the schema to interpret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::repair) enum YesNoWords {
    #[default]
    AsBoolean,
    AsText,
}

/// An open array, object or call.
#[derive(Debug)]
pub(super) enum Frame {
    Array { items: Vec<Value>, closer: u8 },
    Object { object: Object, key: Option<String>, opening: Opening },
    Call,
}

/// How an object was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    Brace,
    DoubleBrace,
    /// A key stands where no object was opened: the brace is missing.
    Missing,
}

/// Which quotes end a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum QuoteRule {
    /// Those after which the text goes on as it can in this place. Other quotes are text.
    #[default]
    ByContext,
    /// All before a colon, comma or bracket. This rule is for texts in which the other one finds strings with JSON inside.
    ByStructure,
}

impl Frame {
    pub(super) fn closer(&self) -> u8 {
        match self {
            Self::Array { closer, .. } => *closer,
            Self::Object { .. } => b'}',
            Self::Call => b')',
        }
    }
}

/// How many frames of each kind are open.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct OpenBrackets {
    pub(super) arrays: usize,
    pub(super) objects: usize,
    pub(super) parentheses: usize,
}

impl OpenBrackets {
    /// The number of open frames that are closed by the same bracket as `frame`.
    pub(super) fn count_for(&mut self, frame: &Frame) -> &mut usize {
        match frame.closer() {
            b']' => &mut self.arrays,
            b'}' => &mut self.objects,
            _ => &mut self.parentheses,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
    pub(super) open: OpenBrackets,
    pub(super) fixes: FixList,
    pub(super) truncated: bool,
    pub(super) elided: bool,
    /// The paths of strings that are unquoted arithmetic.
    pub(super) arithmetic: Vec<Path>,
    pub(super) yes_no: YesNoWords,
    pub(super) quote_rule: QuoteRule,
    /// How many `*` may stand after the end quote of the string that is being read, because as many stand before it.
    pub(super) emphasis: usize,
    /// Whether a `=` stood between a key and its value.
    pub(super) uses_equals_signs: bool,
    /// Where a string begins that contains JSON structure, if there is one.
    pub(super) swallowed: Option<usize>,
    /// For each combination of quote, role and open brackets (a slot), the offset from which on no string finds its end.
    /// Without it, a text full of unterminated strings would be scanned to its end once for each of them.
    pub(super) unterminated: HashMap<usize, usize>,
    /// The first segment of every path if the text is a sequence of values.
    pub(super) sequence_index: Option<usize>,
    /// The closing brackets at the end of the text, last first; computed on first use.
    pub(super) last_closers: Option<Vec<u8>>,
    pub(super) stack: Vec<Frame>,
    /// The whole value, or the argument of a call until the call ends.
    pub(super) result: Option<Value>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, pos: usize, yes_no: YesNoWords, quote_rule: QuoteRule) -> Self {
        Self { text, pos, yes_no, quote_rule, ..Self::default() }
    }

    pub(super) fn role(&self) -> Role {
        match self.stack.last() {
            None => Role::TopLevel,
            Some(Frame::Array { .. }) => Role::Item,
            Some(Frame::Object { .. }) => Role::Member,
            Some(Frame::Call) => Role::Argument,
        }
    }

    /// The path in the result of the value that is being read.
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

    pub(super) fn record(&mut self, kind: FixKind, before: &str, after: impl AsRef<str>) {
        let path = if self.fixes.lists_next_in_detail() { self.path() } else { Path::root() };
        self.fixes.push(|| path, kind, before, after);
    }

    pub(super) fn fail<T>(&self, reason: impl Into<FailureReason>) -> ParseResult<T> {
        Err(Box::new(ParseFailure::Unreadable(self.pos, reason.into())))
    }

    pub(super) fn fail_expected<T>(&self, what: &'static str) -> ParseResult<T> {
        self.fail(FailureReason::Expected(what, self.rest().chars().next()))
    }
}
