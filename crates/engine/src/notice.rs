//! Notices: messages that tell a model what was wrong with its last answers. They are not part of the conversation.

use reknit_protocol::{Object, Value, word_enum};
use serde::{Deserialize, Serialize};

word_enum! {
    /// The reason for a notice: the tag `metadata.retryMessage`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RetryReason {
        /// The answer was text only.
        TextOnly = "text_only",
        /// The answer has a call as text.
        CallInText = "call_in_text",
        Empty = "empty",
        /// The answer was only reasoning.
        ReasoningOnly = "reasoning_only",
        Truncated = "truncated",
        /// The arguments of a call could not be read.
        MalformedCall = "malformed_call",
        /// The model called a tool that does not exist.
        UnknownTool = "unknown_tool",
        ReportRejected = "report_rejected",
        FinalTurn = "final_turn",
    }
}

/// A message that tells a model what was wrong with its last answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub reason: RetryReason,
    pub text: String,
}

impl Notice {
    /// The notice as a message with its tag: `{role, content, metadata: {retryMessage}}`.
    pub fn to_object(&self) -> Object {
        Object::from([
            ("role", Value::from("user")),
            ("content", Value::from(self.text.as_str())),
            ("metadata", Value::from([("retryMessage", Value::from(self.reason.as_str()))])),
        ])
    }
}
