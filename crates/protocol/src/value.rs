//! Any JSON value.

mod access;
mod convert;
mod kind;
mod third_party;

use std::fmt;

pub use kind::Kind;

use crate::{Number, Object, ParseError, parse, print};

/// Any JSON value. Keeps what was written (digits, key order) and compares by what it means.
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
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its digits as written.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// Keys and values, in order.
    Object(Object),
}

impl Value {
    /// Reads exactly one JSON text (RFC 8259).
    ///
    /// Refuses what would lose or hide something: a key that stands twice in an object, half of a surrogate pair, a
    /// byte order mark, text after the value, nesting deeper than [`MAX_DEPTH`](crate::MAX_DEPTH), and an exponent of
    /// more than 18 digits.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text)
    }

    /// JSON over several lines, two spaces to a level.
    pub fn to_pretty(&self) -> String {
        print::pretty(self)
    }

    /// The text shared by all equal values, for hashing: keys sorted, numbers in one spelling, no spaces.
    pub fn canonical(&self) -> String {
        print::canonical(self)
    }
}

impl fmt::Display for Value {
    /// JSON without spaces; with `{:#}` as [`Value::to_pretty`].
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if out.alternate() {
            return out.write_str(&print::pretty(self));
        }
        out.write_str(&print::compact(self))
    }
}

impl fmt::Debug for Value {
    /// The same as `Display`: JSON is the shortest way to show a value.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for Object {
    /// JSON without spaces; with `{:#}` over several lines.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if out.alternate() {
            return out.write_str(&print::pretty_object(self));
        }
        out.write_str(&print::compact_object(self))
    }
}

impl fmt::Debug for Object {
    /// The same as `Display`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
