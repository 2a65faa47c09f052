//! The envelope of every tool response.

use super::ToolError;
use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, wire};
use crate::{Path, Value};

/// The response of a tool: `success` with `data`, or a failure with an `error`.
///
/// Reading fails on JSON that contradicts itself or leaves out the error:
///
/// | `success` | `error` | read as |
/// |---|---|---|
/// | `true` | absent or null | success |
/// | `false` | an error object | failure; `data`, if any, is kept |
/// | `true` | anything else | refused: it contradicts itself |
/// | `false` | absent or null | refused: the error is missing |
/// | absent or not a boolean | | refused: not an envelope (see [`ToolResponse::is_envelope`]) |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResponse {
    data: Option<Value>,
    error: Option<ToolError>,
    pub extra: ExtraFields,
}

impl ToolResponse {
    pub fn ok(data: impl Into<Value>) -> Self {
        Self { data: Some(data.into()), error: None, extra: ExtraFields::default() }
    }

    pub fn fail(error: ToolError) -> Self {
        Self { data: None, error: Some(error), extra: ExtraFields::default() }
    }

    /// Whether a body looks like an envelope: an object in which `success` is a boolean.
    ///
    /// [`ToolResponse::from_value`] may still refuse such a body, and refuses every other one.
    pub fn is_envelope(body: &Value) -> bool {
        body.get("success").is_some_and(|success| success.as_bool().is_some())
    }

    pub fn success(&self) -> bool {
        self.error.is_none()
    }

    /// The data; `None` if the field is absent. A failure may carry data, too.
    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }

    pub fn error(&self) -> Option<&ToolError> {
        self.error.as_ref()
    }

    /// The data of a success (null if absent), or the error of a failure.
    pub fn into_result(self) -> Result<Value, ToolError> {
        match self.error {
            None => Ok(self.data.unwrap_or_default()),
            Some(error) => Err(error),
        }
    }
}

impl Wire for ToolResponse {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        let success = fields.required("success", "a boolean")?;
        let data = fields.take_nullable("data");
        let error = if success {
            fields.require_absent("error", "no error, because `success` is true")?;
            None
        } else {
            Some(fields.required("error", "an object, because `success` is false")?)
        };
        Ok(Self { data, error, extra: fields.finish() })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .with("success", self.success())
            .optional("data", &self.data)
            .optional("error", &self.error)
            .finish()
    }
}

wire!(ToolResponse);
