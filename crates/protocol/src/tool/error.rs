//! The structured error in the response of a tool.

use std::fmt;

use super::Category;
use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, wire};
use crate::{Object, Path, Value};

/// The error that a tool reports: enough to choose a remedy without interpreting prose.
///
/// ```
/// use reknit_protocol::{Category, Retryable, ToolError, Value, tool::codes};
///
/// let error = ToolError::new(codes::LOCATION_NOT_FOUND, "there is no city `NYC`", Category::NotFound)
///     .retryable(Retryable::Yes)
///     .detail("hint", "write `City, Country`");
/// let read = ToolError::from_value(&Value::parse(&error.to_value().to_string())?)?;
/// assert_eq!(read, error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// The code for programs: `LOCATION_NOT_FOUND`. See [`codes`](super::codes).
    pub code: String,
    pub message: String,
    /// The kind of failure. If it is `None`, the HTTP status determines it ([`Category::from_status`]).
    pub category: Option<Category>,
    pub retryable: Retryable,
    /// Further facts: `hint`, `retry_after`, the input as the tool understood it. Values may be of any kind.
    pub details: Object,
    pub extra: ExtraFields,
}

/// Whether a retry can succeed, in the opinion of the tool. An absent field does not mean `No`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retryable {
    /// `true`: a retry with the same or with other parameters can succeed.
    Yes,
    /// `false`: no retry will succeed.
    No,
    /// The field is absent or null.
    #[default]
    Unspecified,
}

impl Retryable {
    /// The boolean in JSON; `None` for an absent field.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unspecified => None,
        }
    }
}

impl From<Option<bool>> for Retryable {
    fn from(flag: Option<bool>) -> Self {
        match flag {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Unspecified,
        }
    }
}

impl ToolError {
    /// An error without details, with [`Retryable::Unspecified`].
    pub fn new(code: impl Into<String>, message: impl Into<String>, category: Category) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            category: Some(category),
            retryable: Retryable::Unspecified,
            details: Object::new(),
            extra: ExtraFields::default(),
        }
    }

    #[must_use]
    pub fn retryable(mut self, retryable: Retryable) -> Self {
        self.retryable = retryable;
        self
    }

    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name, value);
        self
    }

    /// The HTTP status of the response: that of the category, or 500 without one.
    pub fn status(&self) -> u16 {
        self.category.as_ref().map_or(500, Category::status)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ToolError {}

impl Wire for ToolError {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            code: fields.required("code", "a string")?,
            message: fields.required("message", "a string")?,
            category: fields.optional("category")?.map(|word: String| word.as_str().into()),
            retryable: fields.optional("retryable")?.into(),
            details: fields.or_default("details")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .required("code", &self.code)
            .required("message", &self.message)
            .with_some("category", self.category.as_ref().map(Category::as_str))
            .with_some("retryable", self.retryable.as_bool())
            .or_default("details", &self.details)
            .finish()
    }
}

wire!(ToolError);
