//! The strict JSON parser: RFC 8259, except for input that loses information (see [`ParseProblem`]).

mod error;
mod parser;
mod plain_bytes;
mod string;

pub use error::{NextChar, ParseError, ParseProblem};
pub(crate) use parser::Parser;
pub(crate) use plain_bytes::plain_prefix_len;

/// How deep arrays and objects may be nested in a text.
///
/// Parsing, printing, comparing and dropping a value of this depth fits the stack of a small thread.
pub const MAX_DEPTH: usize = 512;
