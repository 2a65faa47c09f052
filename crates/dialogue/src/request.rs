//! What a model is asked.

use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

use crate::Temperature;

/// One question to a model, whichever target will get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// How freely the model may choose its words.
    pub temperature: Temperature,
    /// The most the answer may have, in tokens.
    pub max_tokens: u32,
    /// What the answer should look like.
    pub format: Format,
}

impl Request {
    /// A question whose answer is plain text, at temperature 0.
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self { messages, temperature: Temperature::ZERO, max_tokens, format: Format::Text }
    }

    /// The same with another temperature.
    #[must_use]
    pub fn with_temperature(self, temperature: Temperature) -> Self {
        Self { temperature, ..self }
    }

    /// The same with another form of answer.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format, ..self }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
}

impl Message {
    /// What the model is told about its work.
    pub fn system(text: impl Into<String>) -> Self {
        Self { role: Role::System, text: text.into() }
    }

    /// What the model is asked.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, text: text.into() }
    }

    /// What a model has said before.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, text: text.into() }
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
}

impl Role {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What an answer should look like. A wish: what was asked of the provider in the end stands in the answer's
/// [`FormatUsed`](crate::FormatUsed), and no provider's promise replaces reading the text with care.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Any text.
    Text,
    /// JSON of any shape.
    Json,
    /// JSON that fits this schema.
    Schema {
        /// What the provider is to call it: letters, digits, `_` and `-`.
        name: String,
        /// The JSON Schema.
        #[serde(with = "reknit_protocol::exact")]
        schema: Value,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back_from_its_text_with_every_digit_of_its_schema() {
        let schema = Value::parse(r#"{"type":"number","maximum":123456789012345678901234567890.10}"#).unwrap();
        let request = Request::new(vec![Message::system("be brief"), Message::user("how much?")], 500)
            .with_temperature(Temperature::from_hundredths(30).unwrap())
            .with_format(Format::Schema { name: "amount".into(), schema });
        let text = serde_json::to_string(&request).unwrap();
        insta::assert_snapshot!(text, @r#"{"messages":[{"role":"system","text":"be brief"},{"role":"user","text":"how much?"}],"temperature":0.3,"max_tokens":500,"format":{"schema":{"name":"amount","schema":{"type":"number","maximum":123456789012345678901234567890.10}}}}"#);
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
