//! An error and its causes as text.

use std::error::Error;

/// An error and its causes on one line: `cannot read the file: permission denied`.
pub fn error_chain(error: &dyn Error) -> String {
    let errors = std::iter::successors(Some(error), |error| (*error).source());
    errors.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
