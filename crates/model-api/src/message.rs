//! Messages of a conversation.

use reknit_protocol::{ToolCallId, word_enum};
use serde::{Deserialize, Serialize};

use crate::Attachment;

/// One message of a conversation.
///
/// ```
/// use reknit_model_api::{Message, ToolCall};
///
/// let call = ToolCall::new("call_1", "lookup_order", r#"{"id": 7}"#);
/// let conversation = [
///     Message::user("Where is order 7?"),
///     Message::assistant_with_calls("", vec![call.clone()]),
///     Message::tool_result(&call, "It was sent on Monday."),
/// ];
/// assert_eq!(conversation[2].role().as_str(), "tool");
/// assert_eq!(conversation[2].text(), "It was sent on Monday.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    System {
        text: String,
    },
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    Assistant {
        /// The text; empty if the model only called tools.
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// The reasoning. Sent back only to the provider whose [`ProviderState`] it carries.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<Thought>,
        /// The provider's own form of the answer. Sent back instead of the other fields to the provider that gave it, as long
        /// as they say the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_state: Option<ProviderState>,
    },
    Tool {
        call: ToolCallId,
        name: String,
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
}

impl Message {
    pub fn system(text: impl Into<String>) -> Self {
        Self::System { text: text.into() }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), attachments: Vec::new() }
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::assistant_with_calls(text, Vec::new())
    }

    pub fn assistant_with_calls(text: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self::Assistant { text: text.into(), tool_calls, reasoning: Vec::new(), content_state: None }
    }

    pub fn tool_result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::tool(call, text.into(), false)
    }

    pub fn tool_error(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::tool(call, text.into(), true)
    }

    fn tool(call: &ToolCall, text: String, is_error: bool) -> Self {
        Self::Tool { call: call.id.clone(), name: call.name.clone(), text, is_error, attachments: Vec::new() }
    }

    /// Adds attachments to the input of the user or to the result of a tool. Other messages have none and stay as they are.
    #[must_use]
    pub fn with_attachments(mut self, more: Vec<Attachment>) -> Self {
        if let Self::User { attachments, .. } | Self::Tool { attachments, .. } = &mut self {
            attachments.extend(more);
        }
        self
    }

    pub fn attachments(&self) -> &[Attachment] {
        match self {
            Self::User { attachments, .. } | Self::Tool { attachments, .. } => attachments,
            Self::System { .. } | Self::Assistant { .. } => &[],
        }
    }

    pub const fn role(&self) -> Role {
        match self {
            Self::System { .. } => Role::System,
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::System { text }
            | Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::Tool { text, .. } => text,
        }
    }

    /// The tool calls of an assistant message; empty for others.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant { tool_calls, .. } => tool_calls,
            Self::System { .. } | Self::User { .. } | Self::Tool { .. } => &[],
        }
    }
}

word_enum! {
    /// Author of a message. Most providers share its word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Role {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Tool = "tool",
    }
}

/// Tool call that a model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result must carry.
    pub id: ToolCallId,
    /// The name of the tool as the model wrote it; there may be no such tool.
    pub name: String,
    /// The arguments as the model wrote them, which may not be valid JSON.
    pub arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<ProviderState>,
}

impl ToolCall {
    pub fn new(id: impl Into<ToolCallId>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), provider_state: None }
    }
}

/// Part of a model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// The text, as far as the provider discloses it.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<ProviderState>,
}

/// Opaque data of a provider, such as a signature or encrypted reasoning, that must be sent back to it unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderState {
    /// The wire format that it belongs to, such as `anthropic` or `gemini`. It is never sent in another.
    pub format: String,
    pub text: String,
}

impl ProviderState {
    pub fn new(format: impl Into<String>, text: impl Into<String>) -> Self {
        Self { format: format.into(), text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelAnswer;

    #[test]
    fn every_message_survives_serialization() {
        let mut call = ToolCall::new("call_1", "f", "{\"a\": 1");
        call.provider_state = Some(ProviderState::new("gemini", "xyz"));
        let thought = Thought { text: "hm".into(), provider_state: None };
        let messages = [
            Message::system("s"),
            Message::user("u"),
            Message::assistant("a"),
            Message::Assistant {
                text: String::new(),
                tool_calls: vec![call.clone()],
                reasoning: vec![thought],
                content_state: None,
            },
            Message::tool_result(&call, "fine"),
            Message::tool_error(&call, "no"),
        ];
        let text = serde_json::to_string(&messages).unwrap().replace("},{\"role", "},\n{\"role");
        insta::assert_snapshot!(text, @r#"
        [{"role":"system","text":"s"},
        {"role":"user","text":"u"},
        {"role":"assistant","text":"a"},
        {"role":"assistant","text":"","tool_calls":[{"id":"call_1","name":"f","arguments":"{\"a\": 1","provider_state":{"format":"gemini","text":"xyz"}}],"reasoning":[{"text":"hm"}]},
        {"role":"tool","call":"call_1","name":"f","text":"fine"},
        {"role":"tool","call":"call_1","name":"f","text":"no","is_error":true}]
        "#);
        assert_eq!(serde_json::from_str::<Vec<Message>>(&text).unwrap(), messages);
    }

    #[test]
    fn an_answer_becomes_a_message_with_its_calls_and_reasoning() {
        let mut answer = ModelAnswer::complete("so", "m", crate::Usage::reported(1, 1));
        answer.tool_calls.push(ToolCall::new("1", "f", "{}"));
        answer.reasoning.push(Thought { text: "hm".into(), provider_state: None });
        let message = Message::from(&answer);
        assert_eq!(
            (message.role(), message.text(), message.tool_calls()),
            (Role::Assistant, "so", &answer.tool_calls[..])
        );
        assert!(matches!(message, Message::Assistant { reasoning, .. } if reasoning == answer.reasoning));
    }
}
