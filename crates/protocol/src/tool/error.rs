//! A tool's own report of what went wrong.

use std::fmt;

use super::Category;
use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, wire};
use crate::{Object, Path, Value};

/// What a tool says about its failure: enough to decide on a remedy without reading prose.
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
    /// For machines: `LOCATION_NOT_FOUND`. See [`codes`](super::codes).
    pub code: String,
    /// For people.
    pub message: String,
    /// The kind of failure; `None` if the tool did not say, and the HTTP status has to
    /// ([`Category::from_status`]).
    pub category: Option<Category>,
    /// Whether the tool thinks that trying again can help.
    pub retryable: Retryable,
    /// Facts around the failure: `hint`, `retry_after`, the input as it was understood. Values may be of any kind.
    pub details: Object,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

/// Whether a tool thinks that trying again can help. Not saying so is not the same as saying no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retryable {
    /// `true`: another try, changed or not, can work.
    Yes,
    /// `false`: no other try will work.
    No,
    /// The tool did not say.
    #[default]
    Unsaid,
}

impl Retryable {
    /// The boolean on the wire; `None` if the tool did not say.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unsaid => None,
        }
    }
}

impl From<Option<bool>> for Retryable {
    fn from(said: Option<bool>) -> Self {
        match said {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Unsaid,
        }
    }
}

impl ToolError {
    /// A failure without details that does not say whether another try can help.
    pub fn new(code: impl Into<String>, message: impl Into<String>, category: Category) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            category: Some(category),
            retryable: Retryable::Unsaid,
            details: Object::new(),
            extra: Extra::default(),
        }
    }

    /// Says whether another try can help.
    #[must_use]
    pub fn retryable(mut self, retryable: Retryable) -> Self {
        self.retryable = retryable;
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name, value);
        self
    }

    /// The HTTP status to answer with: that of the category, 500 without one.
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
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            code: fields.require_text("code")?,
            message: fields.require_text("message")?,
            category: fields.text("category")?.map(|word| word.as_str().into()),
            retryable: fields.flag("retryable")?.into(),
            details: fields.object("details")?.unwrap_or_default(),
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with("code", self.code.as_str())
            .with("message", self.message.as_str())
            .with_some("category", self.category.as_ref().map(Category::as_str))
            .with_some("retryable", self.retryable.as_bool())
            .with_unless("details", Object::new(), self.details.clone())
            .finish()
    }
}

wire!(ToolError);
