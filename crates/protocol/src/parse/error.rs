//! Where and why a text is not JSON.

use std::fmt;

use crate::NumberError;

/// Where and why a text is not strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// How many bytes stand before the defect.
    pub offset: usize,
    /// The line of the defect, from 1.
    pub line: usize,
    /// The column of the defect in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: ParseProblem,
}

/// What is wrong with a text that is not strict JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseProblem {
    /// Something else stands where the grammar allows only `expected`.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What could stand here, in words.
        expected: &'static str,
        /// What does.
        found: Found,
    },
    /// A number breaks the grammar of numbers.
    #[error("bad number: {0}")]
    Number(NumberError),
    /// A backslash is followed by something that is no escape.
    #[error("expected an escape (one of `\"\\/bfnrtu`) after the backslash, found {0}")]
    BadEscape(Found),
    /// A raw control character inside a string; it must be escaped.
    #[error("control character U+{0:04X} must be escaped in a string")]
    ControlCharacter(u8),
    /// `\ud83d` without its other half: it stands for no character.
    #[error("`\\u{0:04x}` is half of a surrogate pair and stands for no character")]
    LoneSurrogate(u16),
    /// The key stands twice in one object; which value counts would be a guess.
    #[error("the key {0:?} stands twice in one object")]
    DuplicateKey(String),
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    #[error("nested deeper than {} levels", crate::MAX_DEPTH)]
    TooDeep,
    /// A complete value is followed by something else.
    #[error("expected the end of the text after the value, found {0}")]
    TrailingText(Found),
    /// The text starts with a byte order mark.
    #[error("the text starts with a byte order mark")]
    ByteOrderMark,
}

/// What stands at the place of a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// This character.
    Character(char),
    /// Nothing: the text ends here.
    End,
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(letter) if letter.is_control() => write!(out, "U+{:04X}", u32::from(*letter)),
            Self::Character(letter) => write!(out, "`{letter}`"),
            Self::End => out.write_str("the end of the text"),
        }
    }
}

/// A defect and its offset. Line and column are counted only once the whole text has failed.
///
/// Boxed, so that the result of a successful step stays as small as the value it carries.
pub(super) struct Fault(Box<(usize, ParseProblem)>);

impl Fault {
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
