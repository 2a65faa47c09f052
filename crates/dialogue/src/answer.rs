//! What a model has answered.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Usage;

/// What a model has answered. Complete in the sense that the provider ended it; see [`Finish`] for why it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The words of the answer, without the model's reasoning where the provider tells them apart. Never empty.
    pub text: String,
    /// Why the answer ends where it ends.
    pub finish: Finish,
    /// What it used.
    pub usage: Usage,
    /// The model that answered, in the provider's words; the one that was asked for if the provider does not say.
    pub model: String,
    /// What the provider was really asked for.
    pub format_used: FormatUsed,
    /// Pieces of a streamed answer that could not be read and are missing from the text.
    pub skipped_events: u32,
}

impl Answer {
    /// A whole answer in plain text.
    pub fn complete(text: impl Into<String>, model: impl Into<String>, usage: Usage) -> Self {
        Self {
            text: text.into(),
            finish: Finish::Complete,
            usage,
            model: model.into(),
            format_used: FormatUsed::Text,
            skipped_events: 0,
        }
    }
}

/// Why an answer ends where it ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Complete,
    /// It was cut: the limit of tokens was reached.
    Length,
    /// The provider cut it for what it says.
    ContentFilter,
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

/// What form of answer a provider was really asked for, which may be less than the request wished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatUsed {
    /// JSON that fits a schema.
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
            Self::Schema => "schema",
            Self::Json => "json",
            Self::Text => "text",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_back_from_its_text() {
        let mut answer = Answer::complete("yes", "m-1", Usage::reported(3, 1));
        answer.finish = Finish::Other("eos".into());
        let text = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(text, @r#"{"text":"yes","finish":{"other":"eos"},"usage":{"input_tokens":3,"output_tokens":1,"source":"reported"},"model":"m-1","format_used":"text","skipped_events":0}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
    }
}
