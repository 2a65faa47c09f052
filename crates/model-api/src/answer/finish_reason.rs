//! Why a model ended its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a model ended its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done, or reached a stop sequence.
    Complete,
    /// The token limit was reached.
    Length,
    /// The provider's content filter cut the answer.
    ContentFilter,
    /// The model refused to answer; the text may say why.
    Refusal,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The provider's own name for another reason, or `unstated`.
    Other(String),
}

impl FinishReason {
    /// The name in events and messages.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::ToolCalls => "tool_calls",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
