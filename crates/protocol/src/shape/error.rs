//! The error for JSON of the wrong shape.

use std::fmt;

use crate::{Path, Value, ValueKind};

/// A JSON value does not have the shape that a type requires.
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
    /// The place of the problem.
    pub path: Path,
    /// What the type requires there, in words.
    pub expected: &'static str,
    /// What the value has there.
    pub found: ActualShape,
}

/// What a JSON value has at the place of a [`ShapeError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActualShape {
    /// The key is absent.
    Absent,
    /// A value of the wrong kind.
    Kind(ValueKind),
    /// A string that is not one of the allowed words.
    UnknownWord(String),
}

impl ShapeError {
    pub(crate) fn kind(path: Path, expected: &'static str, found: &Value) -> Self {
        Self { path, expected, found: ActualShape::Kind(found.kind()) }
    }

    pub(crate) fn absent(path: Path, expected: &'static str) -> Self {
        Self { path, expected, found: ActualShape::Absent }
    }
}

impl fmt::Display for ActualShape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => out.write_str("nothing"),
            Self::Kind(kind) => out.write_str(kind.with_article()),
            Self::UnknownWord(word) => write!(out, "`{word}`"),
        }
    }
}
