//! The value of an attribute.

use std::fmt;

use reknit_protocol::{Object, truncate};

use crate::redact::{redact_object, redact_text};

/// The longest excerpt of a prompt or a model's answer, in bytes.
pub(crate) const MAX_TEXT: usize = 2_000;
/// How much of the beginning of a long prompt is shown, in bytes.
const MAX_PROMPT_START: usize = 400;
/// The longest excerpt of an error, in bytes.
pub(crate) const MAX_ERROR: usize = 500;
/// The longest excerpt of a model's reason, or of an answer that could not be parsed, in bytes.
pub(crate) const MAX_BRIEF: usize = 200;

/// The value of an attribute of a span or event, or of a field of a log line.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    Text(String),
    Count(i64),
    Number(f64),
    Flag(bool),
}

impl AttributeValue {
    /// An excerpt of a text: redacted, and truncated to `limit` bytes.
    pub(crate) fn excerpt(text: &str, limit: usize) -> Self {
        Self::Text(truncate(redact_text(text), limit))
    }

    /// The excerpt of an error.
    pub(crate) fn error(text: &str) -> Self {
        Self::excerpt(text, MAX_ERROR)
    }

    /// The beginning (instructions) and the end (request, earlier errors) of a prompt: redacted, at most [`MAX_TEXT`] bytes.
    pub(crate) fn prompt(text: &str) -> Self {
        let text = redact_text(text);
        if text.len() <= MAX_TEXT {
            return Self::Text(text);
        }
        let start = text.get(..text.floor_char_boundary(MAX_PROMPT_START)).unwrap_or_default();
        let end = text.get(text.ceil_char_boundary(text.len() - (MAX_TEXT - MAX_PROMPT_START))..).unwrap_or_default();
        Self::Text(format!("{start}…{end}"))
    }

    pub(crate) fn parameters(parameters: &Object) -> Self {
        Self::excerpt(&redact_object(parameters).to_string(), MAX_TEXT)
    }
}

impl fmt::Display for AttributeValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => out.pad(text),
            Self::Count(count) => count.fmt(out),
            Self::Number(number) => number.fmt(out),
            Self::Flag(flag) => flag.fmt(out),
        }
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for AttributeValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

macro_rules! from_counts {
    ($($type:ty)*) => {$(
        impl From<$type> for AttributeValue {
            fn from(count: $type) -> Self {
                Self::Count(i64::try_from(count).unwrap_or(i64::MAX))
            }
        }
    )*};
}

from_counts! { u32 u64 usize }
