//! JSON values.

mod accessors;
pub mod object;
mod third_party;

pub use accessors::ValueKind;
use object::Object;

use crate::Number;

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
