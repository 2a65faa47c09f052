//! The value of an attribute.

use std::fmt;

use reknit_protocol::Object;
use serde::Serialize;

use super::redact::{redact_object, redact_text};
use reknit_protocol::truncate;

/// The most of a prompt or of a model's words, in bytes.
pub(super) const WORDS: usize = 2_000;
/// The most of an error, in bytes.
pub(super) const ERROR: usize = 500;
/// The most of why a model thinks so, and of an answer that could not be read, in bytes.
pub(super) const BRIEF: usize = 200;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Datum {
    /// A text.
    Text(String),
    /// A whole number.
    Count(i64),
    /// Any number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
}

impl Datum {
    /// A text of others: redacted, and cut to a length.
    pub(super) fn words(text: &str, limit: usize) -> Self {
        Self::Text(truncate(redact_text(text), limit))
    }

    /// Parameters as JSON: redacted, and cut to a length.
    pub(super) fn parameters(parameters: &Object) -> Self {
        Self::words(&redact_object(parameters).to_string(), WORDS)
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => out.pad(text),
            Self::Count(count) => count.fmt(out),
            Self::Number(number) => number.fmt(out),
            Self::Flag(flag) => flag.fmt(out),
        }
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for Datum {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u32> for Datum {
    fn from(count: u32) -> Self {
        Self::Count(i64::from(count))
    }
}

impl From<u64> for Datum {
    fn from(count: u64) -> Self {
        Self::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Datum {
    fn from(count: usize) -> Self {
        Self::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}
