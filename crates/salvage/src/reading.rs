//! What reading gives back: a value with its repairs, or an error that shows where.

use reknit_protocol::{Path, Value};

use crate::{Fix, Misfit};

/// A value read from text, with everything that was changed on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: Value,
    /// Every repair: those of reading in the order of the text, then where the JSON was found, then those of fitting.
    /// Empty when the text was valid and fits.
    pub fixes: Vec<Fix>,
    /// Whether the whole answer was there.
    pub completeness: Completeness,
    /// Where `value` holds an expression such as `{{100 * step-1.price}}` in place of a number.
    pub expressions: Vec<Path>,
}

impl Reading {
    /// The price of all repairs together.
    pub fn cost(&self) -> u64 {
        self.fixes.iter().map(|fix| u64::from(fix.penalty)).sum()
    }
}

/// Whether a reading holds all that was meant. Only a whole reading may be acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// Nothing is missing.
    Whole,
    /// The text ended early: ask again.
    Truncated,
    /// The text says `...` where items are left out: ask again.
    Elided,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Bytes before the place.
    pub offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl Place {
    /// The place `offset` bytes into `text`.
    pub fn of(text: &str, offset: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let before = text.get(..offset).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            offset,
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

/// Why a text gave no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// There is nothing to read: no text, or only white space and comments.
    #[error("there is no JSON in the text: {found}")]
    Empty {
        /// What is there instead: "the text is empty", "only comments".
        found: String,
    },
    /// Neither strict nor tolerant reading can make sense of the text.
    #[error("cannot read the text as JSON at {place}: {problem}")]
    Unreadable {
        /// Where reading stopped.
        place: Place,
        /// What was expected and what was found there.
        problem: String,
    },
    /// Two readings are equally likely.
    #[error("the text can be read in two ways: {} or {}", .first.value, .second.value)]
    Ambiguous {
        /// One of them.
        first: Box<Reading>,
        /// The other.
        second: Box<Reading>,
    },
    /// The text can be read but its value does not fit the schema.
    #[error("the value does not fit the schema")]
    Misfit(#[from] Misfit),
    /// The text nests deeper than the limit.
    #[error("the text nests deeper than {limit} levels at {place}")]
    TooDeep {
        /// The limit.
        limit: usize,
        /// Where it was passed.
        place: Place,
    },
    /// The text is larger than the limit.
    #[error("the text has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
}
