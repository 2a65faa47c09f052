//! What a model is told about its last answers: for the next attempts only, never part of the history.

use reknit_dialogue::Message;
use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

/// Why a notice is given: the tag `metadata.retryMessage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryReason {
    /// The answer was words alone.
    TextOnly,
    /// There was no answer in the answer.
    Empty,
    /// The answer was only reasoning.
    ReasoningOnly,
    /// The answer was cut.
    Truncated,
    /// The parameters of a call could not be read.
    MalformedCall,
    /// A tool was called that there is not.
    UnknownTool,
    /// The report could not be taken.
    ReportRejected,
    /// It is the last turn.
    FinalTurn,
}

impl RetryReason {
    /// The word in the tag.
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

/// Something a model is told about its last answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Why it is told.
    pub reason: RetryReason,
    /// What it is told.
    pub text: String,
}

impl Notice {
    /// The notice as a message of an attempt: the user says it.
    pub fn message(&self) -> Message {
        Message::user(self.text.as_str())
    }

    /// The notice with its tag, as it is shown: `{role, content, metadata: {retryMessage}}`.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from([
            ("role", Value::from("user")),
            ("content", Value::from(self.text.as_str())),
            ("metadata", Value::Object(Object::from([("retryMessage", Value::from(self.reason.as_str()))]))),
        ]))
    }
}

/// The notices for the next attempts. A text that is there already is not said twice.
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
