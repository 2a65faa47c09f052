//! What one line asks for.

use reknit_protocol::{Object, Value};

use super::line::{Content, Line};
use crate::failure::NotText;

/// One line: `{"id"?, "text" | "value", "schema"?}`.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: Option<Value>,
    pub(super) subject: Subject,
    pub(super) schema: Option<Value>,
}

/// What has to fit.
#[derive(Debug, PartialEq)]
pub(super) enum Subject {
    /// A text that has to be read first.
    Text(String),
    Value(Value),
}

/// A line that is no request.
#[derive(Debug, PartialEq)]
pub(super) struct BadLine {
    pub(super) id: Option<Value>,
    pub(super) problem: Problem,
    pub(super) message: String,
    /// The number of the line in the input, from 1.
    pub(super) line: usize,
    /// The column in characters, from 1, where the fault has one.
    pub(super) column: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    NoRequest,
    TooLarge,
}

impl Request {
    pub(super) fn parse(line: &Line<'_>) -> Result<Self, BadLine> {
        let bad = |problem, message, column| BadLine { id: None, problem, message, line: line.number, column };
        let bytes = match line.content {
            Content::Bytes(bytes) => bytes,
            Content::TooLong(limit) => {
                let message = format!("the line has more than {} MiB", limit >> 20);
                return Err(bad(Problem::TooLarge, message, None));
            }
        };
        let text = str::from_utf8(bytes).map_err(|_| {
            let NotText { byte, place } = NotText::new(bytes);
            let message = format!("the line is not UTF-8 text: the byte 0x{byte:02x} is not part of a character");
            bad(Problem::NoRequest, message, Some(place.column))
        })?;
        let value = Value::parse(text).map_err(|error| {
            bad(Problem::NoRequest, format!("the line is not JSON: {}", error.problem), Some(error.column))
        })?;
        let Value::Object(object) = value else {
            return Err(bad(Problem::NoRequest, "the line is not an object".to_owned(), None));
        };
        Self::from_object(object).map_err(|(id, message)| BadLine { id, ..bad(Problem::NoRequest, message, None) })
    }

    fn from_object(mut object: Object) -> Result<Self, (Option<Value>, String)> {
        let id = object.remove("id");
        let schema = object.remove("schema");
        let subject = match (object.remove("text"), object.remove("value")) {
            (Some(Value::String(text)), None) => Ok(Subject::Text(text)),
            (Some(_), None) => Err("`text` is not a string".to_owned()),
            (None, Some(value)) => Ok(Subject::Value(value)),
            (None, None) => Err("the line has neither `text` nor `value`".to_owned()),
            (Some(_), Some(_)) => Err("the line has both `text` and `value`".to_owned()),
        };
        // A misspelt `schema` must not pass for none.
        let stranger = object.keys().next().map(|key| format!("the line has an unknown member {}", Value::from(key)));
        match (stranger, subject) {
            (None, Ok(subject)) => Ok(Self { id, subject, schema }),
            (Some(message), _) | (None, Err(message)) => Err((id, message)),
        }
    }
}
