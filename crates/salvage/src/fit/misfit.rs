//! A value that cannot be made to fit.

use std::fmt;

use reknit_protocol::Value;

use crate::schema::Problem;

/// How many problems are shown in one line.
const SHOWN: usize = 3;

/// A value that cannot be made to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    /// The value as it was given.
    pub value: Value,
    /// What is wrong with it, at least one thing.
    ///
    /// Only what could not be mended: the rest was mended for a look at what remains, and a path leads through the value
    /// as it was then, with keys as the schema spells them and texts decoded.
    pub problems: Vec<Problem>,
}

impl std::error::Error for Misfit {}

impl fmt::Display for Misfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(SHOWN).enumerate() {
            write!(out, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        match self.problems.len().checked_sub(SHOWN) {
            Some(more @ 1..) => write!(out, "; and {more} more"),
            _ => Ok(()),
        }
    }
}
