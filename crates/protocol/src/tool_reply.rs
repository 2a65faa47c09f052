//! What a tool call brought back: a reply, or the reason why none arrived.

use serde::{Deserialize, Serialize};

use crate::{ToolJob, Value, exact};

/// A tool's HTTP reply, before it is classified as success or failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReply {
    pub status: u16,
    pub retry_after_ms: Option<u64>,
    pub body: ReplyBody,
    /// The job that the tool works on. Its result comes later; the body is not the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<ToolJob>,
}

/// The body of a tool's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyBody {
    /// Valid JSON, whatever the content type says.
    Json(#[serde(with = "exact")] Value),
    /// A body that was complete but not valid JSON although its content type says so, or not valid UTF-8, and was repaired.
    /// An HTML page is kept as a text, and a body without any text is null.
    Repaired {
        #[serde(with = "exact")]
        value: Value,
        /// A description of each kind of repair, once per kind.
        fixes: Vec<String>,
    },
    Text(String),
    Empty,
}

impl ReplyBody {
    /// The repair of a body with a JSON content type that is an HTML page.
    pub const HTML_PAGE: &str = "kept an HTML page as text";

    /// The repair of a body with a JSON content type and the status 200 that is empty.
    pub const EMPTY_JSON: &str = "read an empty body as null";

    /// The repair of a body that is not valid UTF-8.
    pub const INVALID_UTF8: &str = "replaced bytes that are not UTF-8";

    /// The body as a value: text becomes a string, an empty body becomes null.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Json(value) | Self::Repaired { value, .. } => value.clone(),
            Self::Text(text) => Value::from(text.as_str()),
            Self::Empty => Value::Null,
        }
    }

    /// The repairs that made the body readable; empty for a body that was read as it came.
    pub fn fixes(&self) -> &[String] {
        match self {
            Self::Repaired { fixes, .. } => fixes,
            Self::Json(_) | Self::Text(_) | Self::Empty => &[],
        }
    }
}

/// A tool call without a usable reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct TransportFailure {
    pub kind: TransportKind,
    pub delivery: Delivery,
    /// A description for people, with the address.
    pub message: String,
}

/// The kinds of transport failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransportKind {
    /// The connection was refused, or the host name is unknown.
    Refused,
    Reset,
    TimedOut,
    TooLarge,
    /// The reply cannot be decoded: it is compressed, or not the JSON that its content type promises.
    Unreadable,
    /// The call could not be made: the tool is unknown or its address is malformed.
    NotCallable,
}

/// Whether a request can have reached its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// No: the connection was never made.
    NotSent,
    /// The request may have arrived.
    Possible,
}
