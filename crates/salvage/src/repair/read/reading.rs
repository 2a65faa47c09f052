//! The result of reading: a value with its repairs, or an error with its position.

use reknit_protocol::{Path, Value};

use crate::{FitError, Fix, TextPosition};

/// A value read from text, with every repair that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: Value,
    /// Every repair: first those of the parser in the order of the text, then those that say where the JSON was found,
    /// then those that made the value fit the schema. Empty if the text was valid JSON that fits.
    pub fixes: Vec<Fix>,
    /// Whether the text contained the whole answer.
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
    /// Nothing is missing.
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
    Empty {
        /// What the text contains instead.
        found: String,
    },
    /// Neither the strict nor the tolerant parser can read the text.
    #[error("cannot read the text as JSON at {position}: {problem}")]
    Unreadable {
        /// Where the parser stopped.
        position: TextPosition,
        /// What the parser expected there, and what it found.
        problem: String,
    },
    /// Two different readings have the same penalty.
    #[error("the text can be read in two ways: {} or {}", .first.value, .second.value)]
    Ambiguous {
        /// One of the readings.
        first: Box<Reading>,
        /// The other reading.
        second: Box<Reading>,
    },
    /// The text can be read, but its value cannot be made to fit the schema.
    #[error("the value does not fit the schema")]
    DoesNotFit(#[from] FitError),
    /// The value nests deeper than the limit.
    #[error("the text nests deeper than {limit} levels at {position}")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
        /// Where the text exceeds the limit.
        position: TextPosition,
    },
    /// The text is larger than [`ReadOptions::max_bytes`](crate::ReadOptions::max_bytes).
    #[error("the text has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// The size of the text in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
}
