//! Where the errors of a tool name a parameter.

use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, wire};
use crate::{Path, Value};

/// Which fields of the objects in an error name a parameter, and say what is wrong with it. For the error
/// `{"fehler": [{"feld": "amount", "meldung": "must be positive"}]}` they are `feld` and `meldung`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorFields {
    /// The field that names the parameter.
    pub parameter: String,
    /// The field that says what is wrong.
    pub message: Option<String>,
    /// Fields that the protocol does not define.
    pub extra: ExtraFields,
}

impl ErrorFields {
    /// The field that names the parameter, and the field that says what is wrong.
    pub fn new(parameter: impl Into<String>, message: Option<String>) -> Self {
        Self { parameter: parameter.into(), message, extra: ExtraFields::default() }
    }
}

impl Wire for ErrorFields {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            parameter: fields.require_text("parameter")?,
            message: fields.text("message")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .with("parameter", self.parameter.as_str())
            .with_some("message", self.message.as_deref())
            .finish()
    }
}

wire!(ErrorFields);
