//! What form of answer was asked for.

use serde::{Deserialize, Serialize};

/// What form of answer a provider was really asked for, which may be less than the request wished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatUsed {
    /// JSON that is held to a schema by force.
    Strict,
    /// JSON that fits a schema, as well as the model can.
    Schema,
    /// JSON of any shape.
    Json,
    /// Nothing in particular.
    Text,
}

impl FormatUsed {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Schema => "schema",
            Self::Json => "json",
            Self::Text => "text",
        }
    }
}
