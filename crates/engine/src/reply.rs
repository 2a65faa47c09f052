//! What came back from a tool, before anybody judges it.

use reknit_protocol::{Value, exact};
use serde::{Deserialize, Serialize};

/// A tool's answer as it came over the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReply {
    /// The HTTP status.
    pub status: u16,
    /// What `Retry-After` asks for.
    pub retry_after_ms: Option<u64>,
    /// What was in the body.
    pub body: Body,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// JSON, whatever the content type says.
    Json(#[serde(with = "exact")] Value),
    /// What says that it is JSON, is whole, and is not written as JSON must be.
    Mended {
        /// What it says.
        #[serde(with = "exact")]
        value: Value,
        /// What was mended, in words, each kind once.
        fixes: Vec<String>,
    },
    /// Text that is no JSON.
    Text(String),
    /// Nothing.
    Empty,
}

impl Body {
    /// The body as a value: text as a string, nothing as null.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Json(value) | Self::Mended { value, .. } => value.clone(),
            Self::Text(text) => Value::from(text.as_str()),
            Self::Empty => Value::Null,
        }
    }

    /// What had to be mended for it to be read, in words.
    pub fn fixes(&self) -> &[String] {
        match self {
            Self::Mended { fixes, .. } => fixes,
            Self::Json(_) | Self::Text(_) | Self::Empty => &[],
        }
    }
}

/// A call that brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct TransportFailure {
    /// What went wrong.
    pub kind: TransportKind,
    /// Whether the tool can have got the request.
    pub sent: Sent,
    /// What went wrong, in words, with the address.
    pub message: String,
}

/// What went wrong between us and a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransportKind {
    /// Nobody listens, or the name is unknown.
    Refused,
    /// The connection broke.
    Reset,
    /// The limit passed.
    TimedOut,
    /// An answer came but cannot be taken in: it is too large.
    BadAnswer,
    /// An answer came and cannot be read: it is packed, or not the JSON that it says it is.
    Unreadable,
    /// The call could not be made at all: no such tool, a malformed address.
    Unusable,
}

/// Whether a request can have reached its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sent {
    /// It cannot: the connection was never made.
    No,
    /// It may have.
    Maybe,
}
