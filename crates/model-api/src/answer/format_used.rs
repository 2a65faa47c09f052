//! Response format that a provider was asked for.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// Response format that a provider was asked for. It may be weaker than the one of the request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FormatUsed {
        /// JSON with a schema that the provider enforces.
        Strict = "strict",
        /// JSON with a schema that the provider does not enforce.
        Schema = "schema",
        /// JSON of any shape.
        Json = "json",
        /// Any text.
        Text = "text",
    }
}
