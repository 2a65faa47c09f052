//! Where and how a JSON value differs from the shape of a type.

use std::fmt;

use crate::{Kind, Path, Value};

/// A JSON value does not have the shape that a type needs.
///
/// ```
/// use reknit_protocol::{ToolResponse, Value};
///
/// let reply = Value::parse(r#"{"success": "yes"}"#)?;
/// let error = ToolResponse::from_value(&reply).unwrap_err();
/// assert_eq!(error.to_string(), "`$.success`: expected a boolean, found a string");
/// # Ok::<(), reknit_protocol::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: expected {expected}, found {found}")]
pub struct ShapeError {
    /// Where.
    pub path: Path,
    /// What the type needs there, in words.
    pub expected: &'static str,
    /// What stands there.
    pub found: Actual,
}

/// What stands where a [`ShapeError`] points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actual {
    /// The key is absent.
    Nothing,
    /// A value of the wrong kind.
    Kind(Kind),
    /// A text of the right kind that is not one of the known words.
    Word(String),
}

impl ShapeError {
    pub(crate) fn kind(path: Path, expected: &'static str, found: &Value) -> Self {
        Self { path, expected, found: Actual::Kind(found.kind()) }
    }

    pub(crate) fn nothing(path: Path, expected: &'static str) -> Self {
        Self { path, expected, found: Actual::Nothing }
    }
}

impl fmt::Display for Actual {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => out.write_str("nothing"),
            Self::Kind(kind) => out.write_str(kind.with_article()),
            Self::Word(word) => write!(out, "`{word}`"),
        }
    }
}
