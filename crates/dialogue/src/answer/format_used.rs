//! Response format that a provider was asked for.

use serde::{Deserialize, Serialize};

/// Response format that a provider was asked for. It may be weaker than the one of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatUsed {
    /// JSON with a schema that the provider enforces.
    Strict,
    /// JSON with a schema that the provider does not enforce.
    Schema,
    /// JSON of any shape.
    Json,
    /// Any text.
    Text,
}

impl FormatUsed {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Schema => "schema",
            Self::Json => "json",
            Self::Text => "text",
        }
    }
}
