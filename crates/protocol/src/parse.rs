//! The strict JSON parser: exactly RFC 8259, minus what would lose or hide something.

mod error;
mod reader;
mod run;
mod string;

pub use error::{Found, ParseError, ParseProblem};
pub(crate) use run::plain_run;

use crate::Value;
use reader::Reader;

/// How deep arrays and objects may be nested in a text.
///
/// Deep enough for any document people write, shallow enough that reading, printing, comparing and dropping one fits
/// the stack of a small thread.
pub const MAX_DEPTH: usize = 512;

/// Reads one JSON text.
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    Reader::new(text).document().map_err(|fault| fault.locate(text))
}
