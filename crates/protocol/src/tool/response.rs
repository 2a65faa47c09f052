//! The envelope around everything a tool answers.

use super::ToolError;
use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, wire};
use crate::{Path, Value};

/// A tool's answer: `success` with `data`, or no success with an `error`.
///
/// It cannot contradict itself. JSON that does, or that says too little, is refused and not guessed at:
///
/// | `success` | `error` | read as |
/// |---|---|---|
/// | `true` | absent or null | success |
/// | `false` | an error object | failure; `data`, if any, is kept |
/// | `true` | anything else | refused: it says both |
/// | `false` | absent or null | refused: it does not say what failed |
/// | absent, or no boolean | | refused: this is no envelope (see [`ToolResponse::is_envelope`]) |
///
/// ```
/// use reknit_protocol::{ToolResponse, Value};
///
/// let reply = Value::parse(r#"{"success": true, "data": {"celsius": 22.50}}"#)?;
/// let data = ToolResponse::from_value(&reply)?.into_result()?;
/// assert_eq!(data.to_string(), r#"{"celsius":22.50}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResponse {
    data: Option<Value>,
    error: Option<ToolError>,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

impl ToolResponse {
    /// A success.
    pub fn ok(data: impl Into<Value>) -> Self {
        Self { data: Some(data.into()), error: None, extra: Extra::default() }
    }

    /// A failure.
    pub fn fail(error: ToolError) -> Self {
        Self { data: None, error: Some(error), extra: Extra::default() }
    }

    /// Whether a body claims to be an envelope: an object in which `success` is a boolean.
    ///
    /// Such a body may still be refused by [`ToolResponse::from_value`]; any other always is.
    pub fn is_envelope(body: &Value) -> bool {
        body.get("success").is_some_and(|success| success.as_bool().is_some())
    }

    /// Whether the tool did what it was asked.
    pub fn success(&self) -> bool {
        self.error.is_none()
    }

    /// What the tool found or made; `None` if the field is absent. A failure may carry some, too.
    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }

    /// What went wrong.
    pub fn error(&self) -> Option<&ToolError> {
        self.error.as_ref()
    }

    /// The data, null if there is none; or the error.
    pub fn into_result(self) -> Result<Value, ToolError> {
        match self.error {
            None => Ok(self.data.unwrap_or_default()),
            Some(error) => Err(error),
        }
    }
}

impl Wire for ToolResponse {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        let success = fields.require_flag("success")?;
        let data = fields.take_even_null("data");
        let error = if success {
            fields.refuse("error", "no error, because `success` is true")?;
            None
        } else {
            Some(fields.require("error", "an object, because `success` is false", ToolError::read)?)
        };
        Ok(Self { data, error, extra: fields.finish() })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with("success", self.success())
            .with_some("data", self.data.clone())
            .with_some("error", self.error.as_ref())
            .finish()
    }
}

wire!(ToolResponse);
