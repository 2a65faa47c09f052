//! Answers of models.

use std::fmt;

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

use crate::{ErrorClass, Message, ModelFailure, Money, ProviderState, Thought, ToolCall, Usage};

/// Answer of a model that the provider has ended; [`FinishReason`] says why it did.
///
/// The text may be empty: a model may only call tools, only reason, or say nothing. Callers that need text use
/// [`ModelAnswer::require_text`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelAnswer {
    /// Text of the answer or of the refusal, without the reasoning if the provider separates it.
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Thought>,
    /// The provider's own form of the answer, where text, calls and reasoning lose something that it needs back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_state: Option<ProviderState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    pub finish: FinishReason,
    /// The stop sequence that ended the answer, if the provider says which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_sequence: Option<String>,
    pub usage: Usage,
    /// The cost by the target's prices if they are known, else as the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_cost: Option<Money>,
    /// The provider's name of the model that answered; the requested model if the provider does not say.
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    pub format_used: FormatUsed,
    /// Fields of the [`ModelRequest`](crate::ModelRequest) that were not sent because the target does not support them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted_options: Vec<String>,
    /// Unreadable events of the stream; their content is missing from the answer.
    pub skipped_events: u32,
    /// Duration of the attempt, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
}

/// Why a model ended its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done, or reached a stop sequence.
    Complete,
    Length,
    ContentFilter,
    /// The model refused to answer; the text may say why.
    Refusal,
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

word_enum! {
    /// Response format that a provider was asked for. It may be weaker than the one of the request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FormatUsed {
        /// JSON with a schema that the provider enforces.
        Strict = "strict",
        /// JSON with a schema that the provider does not enforce.
        Schema = "schema",
        Json = "json",
        Text = "text",
    }
}

/// A source that a provider names for a part of an answer. At least one field is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its title, or the name of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text that the provider quotes: of the source, or of the answer that rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Citation {
    pub const fn is_empty(&self) -> bool {
        self.url.is_none() && self.title.is_none() && self.text.is_none()
    }
}

/// Durations from the start of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    pub first_byte_ms: u64,
    pub total_ms: u64,
}

impl ModelAnswer {
    pub fn complete(text: impl Into<String>, model: impl Into<String>, usage: Usage) -> Self {
        Self {
            text: text.into(),
            tool_calls: Vec::new(),
            reasoning: Vec::new(),
            content_state: None,
            citations: Vec::new(),
            finish: FinishReason::Complete,
            stop_sequence: None,
            usage,
            cost: None,
            reported_cost: None,
            model: model.into(),
            request_id: None,
            format_used: FormatUsed::Text,
            omitted_options: Vec::new(),
            skipped_events: 0,
            timings: None,
        }
    }

    /// The text, for requests that only text can answer.
    ///
    /// Fails as `content_filter` if the model refused or the whole answer was filtered, and as `invalid_response` if the text
    /// is empty otherwise; the message says what the answer contains instead.
    pub fn require_text(&self) -> Result<&str, ModelFailure> {
        let is_empty = self.text.trim().is_empty();
        let (class, message) = match self.finish {
            FinishReason::Refusal if is_empty => {
                (ErrorClass::ContentFilter, "the model refused without a reason".to_owned())
            }
            FinishReason::Refusal => (ErrorClass::ContentFilter, self.text.trim().to_owned()),
            FinishReason::ContentFilter if is_empty => {
                (ErrorClass::ContentFilter, "the provider withheld the whole answer".to_owned())
            }
            _ if is_empty => (ErrorClass::InvalidResponse, self.describe_missing_text()),
            _ => return Ok(&self.text),
        };
        Err(ModelFailure::new(class, message).with_usage(self.usage))
    }

    /// Says that the text is empty, and what the answer contains instead.
    fn describe_missing_text(&self) -> String {
        let reasoning = self.reasoning.iter().map(|thought| thought.text.chars().count()).sum();
        let mut details = vec![format!("finish reason `{}`", self.finish)];
        for (count, unit) in [
            (reasoning, "characters of reasoning"),
            (self.tool_calls.len(), "tool calls"),
            (usize::try_from(self.skipped_events).unwrap_or(usize::MAX), "unreadable events"),
        ] {
            if count > 0 {
                details.push(format!("{unit}: {count}"));
            }
        }
        format!("no text ({})", details.join(", "))
    }
}

impl From<&ModelAnswer> for Message {
    /// The answer as a message of the conversation that continues after it.
    fn from(answer: &ModelAnswer) -> Self {
        Self::Assistant {
            text: answer.text.clone(),
            tool_calls: answer.tool_calls.clone(),
            reasoning: answer.reasoning.clone(),
            content_state: answer.content_state.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, finish: FinishReason) -> ModelAnswer {
        ModelAnswer { finish, ..ModelAnswer::complete(text, "m-1", Usage::reported(3, 1)) }
    }

    #[test]
    fn an_answer_survives_serialization() {
        let answer = answer("yes", FinishReason::Other("eos".into()));
        let text = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(text, @r#"{"text":"yes","finish":{"other":"eos"},"usage":{"input_tokens":3,"output_tokens":1,"source":"reported"},"model":"m-1","format_used":"text","skipped_events":0}"#);
        assert_eq!(serde_json::from_str::<ModelAnswer>(&text).unwrap(), answer);
    }

    #[test]
    fn an_answer_with_all_fields_survives_serialization() {
        let mut answer = answer("", FinishReason::ToolCalls);
        answer.tool_calls.push(ToolCall::new("call_1", "f", "{"));
        answer.reasoning.push(Thought { text: "hm".into(), provider_state: None });
        answer.usage = Usage { cached_tokens: 2, cache_written_tokens: 1, reasoning_tokens: 1, ..answer.usage };
        answer.cost = Some(Money::from_nanos(5));
        answer.request_id = Some("req_1".into());
        answer.omitted_options = vec!["seed".into()];
        answer.timings = Some(Timings { first_byte_ms: 10, total_ms: 20 });
        let text = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(text, @r#"{"text":"","tool_calls":[{"id":"call_1","name":"f","arguments":"{"}],"reasoning":[{"text":"hm"}],"finish":"tool_calls","usage":{"input_tokens":3,"output_tokens":1,"cached_tokens":2,"cache_written_tokens":1,"reasoning_tokens":1,"source":"reported"},"cost":5,"model":"m-1","request_id":"req_1","format_used":"text","omitted_options":["seed"],"skipped_events":0,"timings":{"first_byte_ms":10,"total_ms":20}}"#);
        assert_eq!(serde_json::from_str::<ModelAnswer>(&text).unwrap(), answer);
    }

    #[test]
    fn an_answer_without_text_says_what_it_contains_instead() {
        let mut thinking = answer(" \n", FinishReason::Length);
        thinking.reasoning.push(Thought { text: "hmm".into(), provider_state: None });
        let mut calling = answer("", FinishReason::ToolCalls);
        calling.tool_calls.push(ToolCall::new("1", "f", "{}"));
        let unread = ModelAnswer { skipped_events: 2, ..answer("", FinishReason::Other("unstated".into())) };
        for (answer, expected) in [
            (answer("", FinishReason::Complete), "invalid response: no text (finish reason `complete`)"),
            (thinking, "invalid response: no text (finish reason `length`, characters of reasoning: 3)"),
            (calling, "invalid response: no text (finish reason `tool_calls`, tool calls: 1)"),
            (unread, "invalid response: no text (finish reason `unstated`, unreadable events: 2)"),
            (answer(" I cannot.", FinishReason::Refusal), "refused by a content filter: I cannot."),
            (answer("", FinishReason::Refusal), "refused by a content filter: the model refused without a reason"),
            (
                answer("", FinishReason::ContentFilter),
                "refused by a content filter: the provider withheld the whole answer",
            ),
        ] {
            let failure = answer.require_text().unwrap_err();
            assert_eq!((failure.to_string().as_str(), failure.usage), (expected, Some(answer.usage)));
        }
        assert_eq!(answer("half", FinishReason::ContentFilter).require_text(), Ok("half"));
        assert_eq!(answer("half", FinishReason::Length).require_text(), Ok("half"));
    }
}
