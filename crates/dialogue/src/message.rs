//! What has been said, by whom.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Answer;

/// One message of a conversation.
///
/// ```
/// use reknit_dialogue::{Message, ToolCall};
///
/// let call = ToolCall::new("call_1", "lookup_order", r#"{"id": 7}"#);
/// let conversation = [
///     Message::user("Where is order 7?"),
///     Message::calls("", vec![call.clone()]),
///     Message::result(&call, "It was sent on Monday."),
/// ];
/// assert_eq!(conversation[2].role().as_str(), "tool");
/// assert_eq!(conversation[2].text(), "It was sent on Monday.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the model is told about its work.
    System {
        /// What is said.
        text: String,
    },
    /// What the model is asked.
    User {
        /// What is said.
        text: String,
    },
    /// What a model has said before.
    Assistant {
        /// What is said; empty if it only called tools.
        text: String,
        /// The tools it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// What it thought. Sent back only to providers that want it, and only what they have sealed themselves.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<Thought>,
    },
    /// What a tool has answered.
    Tool {
        /// Which call this answers.
        call: ToolCallId,
        /// The tool that was called.
        name: String,
        /// What it answered.
        text: String,
        /// Whether the call failed.
        #[serde(default, skip_serializing_if = "is_false")]
        is_error: bool,
    },
}

impl Message {
    /// What the model is told about its work.
    pub fn system(text: impl Into<String>) -> Self {
        Self::System { text: text.into() }
    }

    /// What the model is asked.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// What a model has said before, in words alone.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::calls(text, Vec::new())
    }

    /// What a model has said before, with the tools it called.
    pub fn calls(text: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self::Assistant { text: text.into(), tool_calls, reasoning: Vec::new() }
    }

    /// What a tool has answered to a call.
    pub fn result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::Tool { call: call.id.clone(), name: call.name.clone(), text: text.into(), is_error: false }
    }

    /// How a call has failed.
    pub fn error(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::Tool { call: call.id.clone(), name: call.name.clone(), text: text.into(), is_error: true }
    }

    /// Who says it.
    pub const fn role(&self) -> Role {
        match self {
            Self::System { .. } => Role::System,
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// What is said, in words.
    pub fn text(&self) -> &str {
        match self {
            Self::System { text } | Self::User { text } | Self::Assistant { text, .. } | Self::Tool { text, .. } => {
                text
            }
        }
    }

    /// The tools that are called in it.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant { tool_calls, .. } => tool_calls,
            Self::System { .. } | Self::User { .. } | Self::Tool { .. } => &[],
        }
    }
}

impl From<&Answer> for Message {
    /// The answer as a part of the conversation that goes on behind it.
    fn from(answer: &Answer) -> Self {
        Self::Assistant {
            text: answer.text.clone(),
            tool_calls: answer.tool_calls.clone(),
            reasoning: answer.reasoning.clone(),
        }
    }
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whoever set the model up.
    System,
    /// Whoever asks.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl Role {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A tool that a model wants to be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the answer to it must be marked with.
    pub id: ToolCallId,
    /// The tool, in the model's words: there may be none of that name.
    pub name: String,
    /// The arguments as the model wrote them, which may be anything. They are read with care by whoever makes the call.
    pub arguments: String,
    /// What the provider wants to see again with this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

impl ToolCall {
    /// A call without a seal.
    pub fn new(id: impl Into<ToolCallId>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), seal: None }
    }
}

/// Marks a call of a tool, and the answer to it. Unique within one answer; where a provider gives no ids, the first call
/// of each answer is `call_1`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolCallId(String);

impl ToolCallId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ToolCallId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for ToolCallId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for ToolCallId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl fmt::Debug for ToolCallId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A piece of a model's reasoning, which is no part of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// The words, as far as the provider shows them.
    pub text: String,
    /// What the provider wants to see again with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// Something that a provider has made, wants to see again unchanged, and that means nothing to anybody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The wire format it belongs to: `anthropic`, `gemini`. Others are never shown it.
    pub format: String,
    /// The text as it came.
    pub text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_comes_back_from_its_text() {
        let mut call = ToolCall::new("call_1", "f", "{\"a\": 1");
        call.seal = Some(Seal { format: "gemini".into(), text: "xyz".into() });
        let thought = Thought { text: "hm".into(), seal: None };
        let messages = [
            Message::system("s"),
            Message::user("u"),
            Message::assistant("a"),
            Message::Assistant { text: String::new(), tool_calls: vec![call.clone()], reasoning: vec![thought] },
            Message::result(&call, "fine"),
            Message::error(&call, "no"),
        ];
        let text = serde_json::to_string(&messages).unwrap().replace("},{\"role", "},\n{\"role");
        insta::assert_snapshot!(text, @r#"
        [{"role":"system","text":"s"},
        {"role":"user","text":"u"},
        {"role":"assistant","text":"a"},
        {"role":"assistant","text":"","tool_calls":[{"id":"call_1","name":"f","arguments":"{\"a\": 1","seal":{"format":"gemini","text":"xyz"}}],"reasoning":[{"text":"hm"}]},
        {"role":"tool","call":"call_1","name":"f","text":"fine"},
        {"role":"tool","call":"call_1","name":"f","text":"no","is_error":true}]
        "#);
        assert_eq!(serde_json::from_str::<Vec<Message>>(&text).unwrap(), messages);
    }

    #[test]
    fn an_answer_goes_into_the_conversation_with_its_calls_and_its_thoughts() {
        let mut answer = Answer::complete("so", "m", crate::Usage::reported(1, 1));
        answer.tool_calls.push(ToolCall::new("1", "f", "{}"));
        answer.reasoning.push(Thought { text: "hm".into(), seal: None });
        let message = Message::from(&answer);
        assert_eq!(
            (message.role(), message.text(), message.tool_calls()),
            (Role::Assistant, "so", &answer.tool_calls[..])
        );
        assert!(matches!(message, Message::Assistant { reasoning, .. } if reasoning == answer.reasoning));
    }
}
