//! What a model may call.

use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits, `_` and `-`; other characters are refused by most providers.
    pub name: String,
    /// What it does, in words for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    #[serde(with = "reknit_protocol::exact")]
    pub schema: Value,
}

/// Whether a model calls a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// Not now, though it is shown what there is.
    None,
    /// It must call one or more.
    Required,
    /// It must call this one.
    Named(String),
}

impl ToolChoice {
    pub(crate) fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}
