//! Errors of the strict parser.

use std::fmt;

use crate::NumberError;

/// The position and the reason why a text is not strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// The position in bytes, from 0.
    pub offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    pub problem: ParseProblem,
}

/// The reason why a text is not strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseProblem {
    #[error("expected {expected}, found {found}")]
    Unexpected { expected: &'static str, found: NextChar },
    #[error("bad number: {0}")]
    Number(NumberError),
    #[error("expected an escape (one of `\"\\/bfnrtu`) after the backslash, found {0}")]
    BadEscape(NextChar),
    #[error("control character U+{0:04X} must be escaped in a string")]
    ControlCharacter(u8),
    /// An escape such as `\ud83d` is half of a surrogate pair without the other half.
    #[error("`\\u{0:04x}` is an unpaired surrogate")]
    LoneSurrogate(u16),
    #[error("duplicate key {0:?}")]
    DuplicateKey(String),
    #[error("nested deeper than {} levels", crate::MAX_DEPTH)]
    TooDeep,
    #[error("expected the end of the text after the value, found {0}")]
    TrailingText(NextChar),
    #[error("the text starts with a byte order mark")]
    ByteOrderMark,
}

/// The next character of a text, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextChar {
    Character(char),
    End,
}

impl fmt::Display for NextChar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(c) if c.is_control() => write!(out, "U+{:04X}", u32::from(*c)),
            Self::Character(c) => write!(out, "`{c}`"),
            Self::End => out.write_str("the end of the text"),
        }
    }
}

/// A problem and its byte offset. Line and column are computed once, when parsing has failed.
///
/// Boxed, so that the `Result` of a successful step stays as small as its value.
pub(super) struct ProblemAt(Box<(usize, ParseProblem)>);

impl ProblemAt {
    pub(super) fn new(offset: usize, problem: ParseProblem) -> Self {
        Self(Box::new((offset, problem)))
    }

    pub(super) fn locate(self, text: &str) -> ParseError {
        let (offset, problem) = *self.0;
        let before = text.get(..offset).unwrap_or(text);
        let (lines, last) = match before.rsplit_once('\n') {
            Some((lines, last)) => (lines.matches('\n').count() + 1, last),
            None => (0, before),
        };
        ParseError { offset, line: lines + 1, column: last.chars().count() + 1, problem }
    }
}
