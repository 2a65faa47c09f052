//! JSON values.

mod accessors;
mod third_party;

use std::fmt;

pub use accessors::ValueKind;

use crate::json::parse::Parser;
use crate::json::print;
use crate::{Number, Object, ParseError};

/// Any JSON value. It keeps digits and key order as written; comparison ignores key order and the spelling of numbers.
///
/// ```
/// use reknit_protocol::Value;
///
/// let read = Value::parse(r#"{"price": 19.90, "tags": ["new"]}"#)?;
/// assert_eq!(read.to_string(), r#"{"price":19.90,"tags":["new"]}"#);
/// assert_eq!(read, Value::parse(r#"{"tags": ["new"], "price": 1.99e1}"#)?);
/// # Ok::<(), reknit_protocol::ParseError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    /// A number, with its digits as written.
    Number(Number),
    String(String),
    Array(Vec<Value>),
    /// An object, with its key order.
    Object(Object),
}

impl Value {
    /// Parses exactly one JSON text (RFC 8259).
    ///
    /// Fails also on duplicate keys in an object, unpaired surrogates, a byte order mark, nesting deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH), and an exponent of more than 18 digits.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Parser::parse(text)
    }

    /// JSON on several lines, indented by two spaces per level.
    pub fn to_pretty(&self) -> String {
        print::to_text(|out| print::write_value(out, self, Some(0)))
    }

    /// The one text of all equal values, for hashing: sorted keys, canonical numbers, no spaces.
    pub fn canonical(&self) -> String {
        print::to_text(|out| print::write_canonical(out, self))
    }
}

impl fmt::Display for Value {
    /// JSON without spaces; `{:#}` prints like [`Value::to_pretty`].
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = out.alternate().then_some(0);
        out.write_str(&print::to_text(|text| print::write_value(text, self, level)))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for Object {
    /// JSON without spaces; `{:#}` prints on several lines.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = out.alternate().then_some(0);
        out.write_str(&print::to_text(|text| print::write_object(text, self, level)))
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
