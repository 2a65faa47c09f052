//! Notices tell a model what was wrong with its last answers. They are sent with the next attempts and are never part
//! of the history.

use reknit_dialogue::Message;
use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

/// The reason for a notice: the tag `metadata.retryMessage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryReason {
    /// The answer was text only.
    TextOnly,
    /// The answer was empty.
    Empty,
    /// The answer was only reasoning.
    ReasoningOnly,
    /// The answer was truncated.
    Truncated,
    /// The arguments of a call could not be read.
    MalformedCall,
    /// The model called a tool that does not exist.
    UnknownTool,
    /// The report was rejected.
    ReportRejected,
    /// This is the final turn.
    FinalTurn,
}

impl RetryReason {
    /// The value of the tag.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TextOnly => "text_only",
            Self::Empty => "empty",
            Self::ReasoningOnly => "reasoning_only",
            Self::Truncated => "truncated",
            Self::MalformedCall => "malformed_call",
            Self::UnknownTool => "unknown_tool",
            Self::ReportRejected => "report_rejected",
            Self::FinalTurn => "final_turn",
        }
    }
}

/// A message that tells a model what was wrong with its last answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The reason.
    pub reason: RetryReason,
    /// The text.
    pub text: String,
}

impl Notice {
    /// The notice as a user message.
    pub fn message(&self) -> Message {
        Message::user(self.text.as_str())
    }

    /// The notice with its tag: `{role, content, metadata: {retryMessage}}`.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from([
            ("role", Value::from("user")),
            ("content", Value::from(self.text.as_str())),
            ("metadata", Value::Object(Object::from([("retryMessage", Value::from(self.reason.as_str()))]))),
        ]))
    }
}

/// The notices for the next attempts, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Notices(Vec<Notice>);

impl Notices {
    pub(crate) fn push(&mut self, reason: RetryReason, text: String) {
        if !self.0.iter().any(|notice| notice.text == text) {
            self.0.push(Notice { reason, text });
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Notice> {
        self.0.iter()
    }
}
