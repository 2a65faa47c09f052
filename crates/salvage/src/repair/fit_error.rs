//! Why a value does not fit.

use std::fmt;

use reknit_protocol::Value;

use crate::schema::FitProblem;

const MAX_LISTED: usize = 3;

/// A value that cannot be made to fit a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct FitError {
    pub value: Value,
    /// The problems that remain after all possible repairs; at least one.
    ///
    /// Their paths lead through the repaired value, in which keys are spelt as in the schema and strings are decoded.
    pub problems: Vec<FitProblem>,
}

impl std::error::Error for FitError {}

impl fmt::Display for FitError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(MAX_LISTED).enumerate() {
            write!(out, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        match self.problems.len().checked_sub(MAX_LISTED) {
            Some(more @ 1..) => write!(out, "; and {more} more"),
            _ => Ok(()),
        }
    }
}
