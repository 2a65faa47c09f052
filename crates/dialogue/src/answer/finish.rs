//! Why an answer ends where it ends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why an answer ends where it ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, or came to a text at which it had to end.
    Complete,
    /// It was cut: the limit of tokens was reached.
    Length,
    /// The provider cut it for what it says.
    ContentFilter,
    /// The model will not answer; the text says why, if anything does.
    Refusal,
    /// It ends in calls of tools.
    ToolCalls,
    /// The provider's own word, or `unstated` where it ended the answer without one.
    Other(String),
}

impl Finish {
    /// The word for events and messages.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::ToolCalls => "tool_calls",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for Finish {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
