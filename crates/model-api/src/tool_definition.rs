//! Tools that a model may call.

use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Letters, digits, `_` and `-`; most providers refuse other characters.
    pub name: String,
    /// What the tool does, written for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    #[serde(with = "reknit_protocol::exact")]
    pub schema: Value,
}

/// Whether the model may or must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model sees the tools but must not call one.
    None,
    /// The model must call at least one tool.
    Required,
    /// The model must call this tool.
    Named(String),
}

impl ToolChoice {
    /// Whether the model must call a tool.
    pub const fn is_forced(&self) -> bool {
        matches!(self, Self::Required | Self::Named(_))
    }

    pub(crate) fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}
