//! The result of reading: a value with its repairs, or an error with its position; why the tolerant parser stopped.

use std::fmt;

use reknit_protocol::{Path, Value};

use crate::{FitError, Fix, TextPosition};

/// A value read from text, with every repair that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub value: Value,
    /// Every repair: first those of the parser in the order of the text, then those that say where the JSON was found,
    /// then those that made the value fit the schema. Empty if the text was valid JSON that fits.
    pub fixes: Vec<Fix>,
    pub completeness: Completeness,
    /// The paths at which `value` has an expression such as `{{100 * step-1.price}}` in place of a number.
    pub expressions: Vec<Path>,
}

impl Reading {
    /// The sum of the penalties of all repairs.
    pub fn total_penalty(&self) -> u64 {
        self.fixes.iter().map(|fix| u64::from(fix.penalty)).sum()
    }
}

/// Whether the text contained the whole answer. Act only on a complete one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    Complete,
    /// The text ended early: ask the model again.
    Truncated,
    /// The text has `...` in place of items: ask the model again.
    Elided,
}

/// Why no value could be read from a text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadTextError {
    /// The text is empty, or contains only white space, comments or prose.
    #[error("there is no JSON in the text: {found}")]
    Empty { found: String },
    #[error("cannot read the text as JSON at {position}: {problem}")]
    Unreadable { position: TextPosition, problem: String },
    #[error("the text can be read in two ways: {} or {}", .first.value, .second.value)]
    Ambiguous { first: Box<Reading>, second: Box<Reading> },
    #[error("the value does not fit the schema")]
    DoesNotFit(#[from] FitError),
    #[error("the text nests deeper than {limit} levels at {position}")]
    TooDeep { limit: usize, position: TextPosition },
    #[error("the text has {size} bytes; the limit is {limit}")]
    TooLarge { size: usize, limit: usize },
}

/// Why the parser stopped, with the offset in the text.
#[derive(Debug, Clone)]
pub(super) enum ParseFailure {
    Unreadable(usize, FailureReason),
    TooDeep(usize),
    /// A quote outside a string is escaped: one layer of escapes has to be removed from the whole text.
    Escaped(usize),
    /// Two values are equally likely.
    Ambiguous(Box<[Value; 2]>),
}

/// The result of one step of the parser. The failure is boxed to keep the result of a successful step small.
pub(super) type ParseResult<T> = Result<T, Box<ParseFailure>>;

/// What the parser expected and found. It is formatted only for display, because most failures end just one of several
/// attempts.
#[derive(Debug, Clone)]
pub(super) enum FailureReason {
    Static(&'static str),
    Text(String),
    /// What was expected, and the character found instead; `None` at the end of the text.
    Expected(&'static str, Option<char>),
    /// As [`Expected`](Self::Expected), with the character shown escaped.
    ExpectedEscaped(&'static str, Option<char>),
}

/// The reason for [`ParseFailure::Escaped`].
pub(super) const ESCAPED_QUOTE: &str = "expected a value, found an escaped quote";

/// The reason if a string contains JSON structure in every reading.
pub(super) const SWALLOWED: &str =
    "the string that begins here contains keys or brackets; a quote or bracket is missing";

impl ParseFailure {
    pub(super) fn at(&self) -> usize {
        match self {
            Self::Unreadable(at, _) | Self::TooDeep(at) | Self::Escaped(at) => *at,
            Self::Ambiguous(_) => 0,
        }
    }

    /// Moves the offset, for a text that begins `by` bytes into another one.
    pub(super) fn shifted(mut self, by: usize) -> Self {
        match &mut self {
            Self::Unreadable(at, _) | Self::TooDeep(at) | Self::Escaped(at) => *at += by,
            Self::Ambiguous(_) => {}
        }
        self
    }
}

impl From<Box<ParseFailure>> for ParseFailure {
    fn from(boxed: Box<ParseFailure>) -> Self {
        *boxed
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(text) => out.write_str(text),
            Self::Text(text) => out.write_str(text),
            Self::Expected(what, None) => write!(out, "expected {what}, found the end of the text"),
            Self::Expected(what, Some(found)) if found.is_control() => {
                write!(out, "expected {what}, found the control character U+{:04X}", u32::from(*found))
            }
            Self::Expected(what, Some(found)) => write!(out, "expected {what}, found `{found}`"),
            Self::ExpectedEscaped(what, None) => write!(out, "expected {what}, found ``"),
            Self::ExpectedEscaped(what, Some(found)) => {
                write!(out, "expected {what}, found `{}`", found.escape_debug())
            }
        }
    }
}

impl From<&'static str> for FailureReason {
    fn from(text: &'static str) -> Self {
        Self::Static(text)
    }
}

impl From<String> for FailureReason {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
