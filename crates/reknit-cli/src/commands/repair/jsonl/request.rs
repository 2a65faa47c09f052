//! Parses one line as a request.

use reknit_protocol::{Object, Value};

use super::line::{Content, Line};
use crate::output::NotUtf8;

/// One line: `{"id"?, "text" | "value", "schema"?}`.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: Option<Value>,
    pub(super) subject: Subject,
    pub(super) schema: Option<Value>,
}

/// The value to fit to the schema.
#[derive(Debug, PartialEq)]
pub(super) enum Subject {
    /// A text to read the value from.
    Text(String),
    Value(Value),
}

#[derive(Debug, PartialEq)]
pub(super) struct BadLine {
    pub(super) id: Option<Value>,
    /// The code of the error in the answer.
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The number of the line in the input, from 1.
    pub(super) line: usize,
    /// The column of the error in characters, from 1, if it has one.
    pub(super) column: Option<usize>,
}

impl Request {
    pub(super) fn parse(line: &Line<'_>) -> Result<Self, BadLine> {
        let error = |code, message, column| BadLine { id: None, code, message, line: line.number, column };
        let bad = |message: String, column| error("bad_line", message, column);
        let bytes = match line.content {
            Content::Bytes(bytes) => bytes,
            Content::TooLong(limit) => {
                let message = format!("the line is longer than {} MiB", limit >> 20);
                return Err(error("too_large", message, None));
            }
        };
        let text = str::from_utf8(bytes).map_err(|_| {
            let NotUtf8 { byte, position } = NotUtf8::new(bytes);
            let message = format!("the line is not UTF-8 text: invalid byte 0x{byte:02x}");
            bad(message, Some(position.column))
        })?;
        let value = Value::parse(text)
            .map_err(|error| bad(format!("the line is not JSON: {}", error.problem), Some(error.column)))?;
        let Value::Object(object) = value else {
            return Err(bad("the line is not an object".to_owned(), None));
        };
        Self::from_object(object).map_err(|(id, message)| BadLine { id, ..bad(message, None) })
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
        // A misspelled `schema` must not count as no schema.
        let unknown = object.keys().next().map(|key| format!("the line has an unknown field {}", Value::from(key)));
        match (unknown, subject) {
            (None, Ok(subject)) => Ok(Self { id, subject, schema }),
            (Some(message), _) | (None, Err(message)) => Err((id, message)),
        }
    }
}
