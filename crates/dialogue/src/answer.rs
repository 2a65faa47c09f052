//! What a model has answered.

mod finish;
mod format_used;

use serde::{Deserialize, Serialize};

pub use finish::Finish;
pub use format_used::FormatUsed;

use crate::{ErrorClass, Failure, Money, Thought, ToolCall, Usage};

/// What a model has answered. Complete in the sense that the provider ended it; see [`Finish`] for why it did.
///
/// It may have no words: a model may only call tools, only think, or say nothing. Who needs words asks for
/// [`Answer::words`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The words of the answer, or of the refusal to give one; without the model's reasoning where the provider tells
    /// them apart.
    pub text: String,
    /// The tools that are to be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What the model thought.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Thought>,
    /// Why the answer ends where it ends.
    pub finish: Finish,
    /// What it used.
    pub usage: Usage,
    /// What it cost, if the target's prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// The model that answered, in the provider's words; the one that was asked for if the provider does not say.
    pub model: String,
    /// What the provider calls this exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What the provider was really asked for.
    pub format_used: FormatUsed,
    /// What the request wished for and the target does not understand, by the names in [`Request`](crate::Request).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Pieces of a streamed answer that could not be read and are missing from the text.
    pub skipped_events: u32,
    /// How long it took, if somebody has measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
}

/// How long an answer took, from the start of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// Until the first byte of the response.
    pub first_byte_ms: u64,
    /// Until the answer was complete.
    pub total_ms: u64,
}

impl Answer {
    /// A whole answer in plain text.
    pub fn complete(text: impl Into<String>, model: impl Into<String>, usage: Usage) -> Self {
        Self {
            text: text.into(),
            tool_calls: Vec::new(),
            reasoning: Vec::new(),
            finish: Finish::Complete,
            usage,
            cost: None,
            model: model.into(),
            request_id: None,
            format_used: FormatUsed::Text,
            left_out: Vec::new(),
            skipped_events: 0,
            timings: None,
        }
    }

    /// The words, or why there are none: for questions that only words can answer.
    ///
    /// A refusal is `content_filter`, with the model's words. Everything else without words is `invalid_response`, and
    /// says what there is instead.
    pub fn words(&self) -> Result<&str, Failure> {
        let held_back = self.text.trim().is_empty();
        let (class, message) = match self.finish {
            Finish::Refusal if held_back => (ErrorClass::ContentFilter, "the model refused without a word".to_owned()),
            Finish::Refusal => (ErrorClass::ContentFilter, self.text.trim().to_owned()),
            Finish::ContentFilter if held_back => {
                (ErrorClass::ContentFilter, "the server held the whole answer back".to_owned())
            }
            _ if held_back => (ErrorClass::InvalidResponse, self.instead_of_words()),
            _ => return Ok(&self.text),
        };
        Err(Failure::new(class, message).with_usage(self.usage))
    }

    /// How many characters the model thought.
    fn reasoning_length(&self) -> usize {
        self.reasoning.iter().map(|thought| thought.text.chars().count()).sum()
    }

    /// That there is no text, and what there is.
    fn instead_of_words(&self) -> String {
        let mut rest = vec![format!("finish reason `{}`", self.finish)];
        for (count, what) in [
            (self.reasoning_length(), "characters of reasoning"),
            (self.tool_calls.len(), "calls of tools"),
            (usize::try_from(self.skipped_events).unwrap_or(usize::MAX), "events that cannot be read"),
        ] {
            if count > 0 {
                rest.push(format!("{what}: {count}"));
            }
        }
        format!("no text ({})", rest.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, finish: Finish) -> Answer {
        Answer { finish, ..Answer::complete(text, "m-1", Usage::reported(3, 1)) }
    }

    #[test]
    fn an_answer_comes_back_from_its_text() {
        let answer = answer("yes", Finish::Other("eos".into()));
        let text = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(text, @r#"{"text":"yes","finish":{"other":"eos"},"usage":{"input_tokens":3,"output_tokens":1,"source":"reported"},"model":"m-1","format_used":"text","skipped_events":0}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
    }

    #[test]
    fn an_answer_with_everything_in_it_comes_back_from_its_text() {
        let mut answer = answer("", Finish::ToolCalls);
        answer.tool_calls.push(ToolCall::new("call_1", "f", "{"));
        answer.reasoning.push(Thought { text: "hm".into(), seal: None });
        answer.usage = Usage { cached_tokens: 2, cache_written_tokens: 1, reasoning_tokens: 1, ..answer.usage };
        answer.cost = Some(Money::from_nanos(5));
        answer.request_id = Some("req_1".into());
        answer.left_out = vec!["seed".into()];
        answer.timings = Some(Timings { first_byte_ms: 10, total_ms: 20 });
        let text = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(text, @r#"{"text":"","tool_calls":[{"id":"call_1","name":"f","arguments":"{"}],"reasoning":[{"text":"hm"}],"finish":"tool_calls","usage":{"input_tokens":3,"output_tokens":1,"cached_tokens":2,"cache_written_tokens":1,"reasoning_tokens":1,"source":"reported"},"cost":5,"model":"m-1","request_id":"req_1","format_used":"text","left_out":["seed"],"skipped_events":0,"timings":{"first_byte_ms":10,"total_ms":20}}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
    }

    #[test]
    fn an_answer_without_words_says_what_there_is_instead() {
        let mut thinking = answer(" \n", Finish::Length);
        thinking.reasoning.push(Thought { text: "hmm".into(), seal: None });
        let mut calling = answer("", Finish::ToolCalls);
        calling.tool_calls.push(ToolCall::new("1", "f", "{}"));
        let unread = Answer { skipped_events: 2, ..answer("", Finish::Other("unstated".into())) };
        for (answer, expected) in [
            (answer("", Finish::Complete), "invalid response: no text (finish reason `complete`)"),
            (thinking, "invalid response: no text (finish reason `length`, characters of reasoning: 3)"),
            (calling, "invalid response: no text (finish reason `tool_calls`, calls of tools: 1)"),
            (unread, "invalid response: no text (finish reason `unstated`, events that cannot be read: 2)"),
            (answer(" I cannot.", Finish::Refusal), "refused for its content: I cannot."),
            (answer("", Finish::Refusal), "refused for its content: the model refused without a word"),
            (answer("", Finish::ContentFilter), "refused for its content: the server held the whole answer back"),
        ] {
            let failure = answer.words().unwrap_err();
            assert_eq!((failure.to_string().as_str(), failure.usage), (expected, Some(answer.usage)));
        }
        assert_eq!(answer("half", Finish::ContentFilter).words(), Ok("half"));
        assert_eq!(answer("half", Finish::Length).words(), Ok("half"));
    }
}
