//! The strict JSON parser: RFC 8259, except for input that loses information (see [`ParseProblem`]).

mod error;
mod parser;
mod string;

pub use error::{NextChar, ParseError, ParseProblem};

use parser::Parser;

use crate::Value;

/// How deep arrays and objects may be nested in a text.
///
/// Parsing, printing, comparing and dropping a value of this depth fits the stack of a small thread.
pub const MAX_DEPTH: usize = 512;

impl Value {
    /// Parses exactly one JSON text (RFC 8259).
    ///
    /// Fails also on duplicate keys in an object, unpaired surrogates, a byte order mark, nesting deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH), and an exponent of more than 18 digits.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Parser::parse(text)
    }
}
