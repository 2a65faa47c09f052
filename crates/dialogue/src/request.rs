//! What a model is asked.

use std::collections::BTreeMap;

use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

use crate::{Message, Temperature, Tool, ToolChoice};

/// One question to a model, whichever target will get it.
///
/// What a target does not understand is not sent to it, and stands in the answer's [`left_out`](crate::Answer::left_out).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Whether it has to.
    #[serde(default, skip_serializing_if = "ToolChoice::is_auto")]
    pub tool_choice: ToolChoice,
    /// How freely the model may choose its words; as the provider likes if there is none.
    pub temperature: Option<Temperature>,
    /// The most the answer may have, in tokens, reasoning included.
    pub max_tokens: u32,
    /// What the answer should look like.
    pub format: Format,
    /// Texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The same seed gives the same answer, where a provider keeps to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How much the model should think first; as the provider likes if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The longest the whole answer may take, if that is less than the target is allowed anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<u64>,
    /// What the provider is to keep with the request, for whoever looks at its records.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Request {
    /// A question whose answer is plain text, at temperature 0, without tools.
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self {
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            temperature: Some(Temperature::ZERO),
            max_tokens,
            format: Format::Text,
            stop: Vec::new(),
            seed: None,
            effort: None,
            max_ms: None,
            metadata: BTreeMap::new(),
        }
    }

    /// The same with another temperature.
    #[must_use]
    pub fn with_temperature(self, temperature: Temperature) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// The same with another form of answer.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// The same with tools to call.
    #[must_use]
    pub fn with_tools(self, tools: Vec<Tool>, tool_choice: ToolChoice) -> Self {
        Self { tools, tool_choice, ..self }
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

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Neither little nor much.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        let schema = Value::parse(r#"{"type":"number","maximum":123456789012345678901234567890.10}"#).unwrap();
        Request::new(vec![Message::system("be brief"), Message::user("how much?")], 500)
            .with_temperature(Temperature::from_hundredths(30).unwrap())
            .with_format(Format::Schema { name: "amount".into(), schema })
    }

    #[test]
    fn a_request_comes_back_from_its_text_with_every_digit_of_its_schema() {
        let text = serde_json::to_string(&request()).unwrap();
        insta::assert_snapshot!(text, @r#"{"messages":[{"role":"system","text":"be brief"},{"role":"user","text":"how much?"}],"temperature":0.3,"max_tokens":500,"format":{"schema":{"name":"amount","schema":{"type":"number","maximum":123456789012345678901234567890.10}}}}"#);
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request());
    }

    #[test]
    fn everything_that_can_be_asked_for_comes_back_from_its_text() {
        let tool = Tool {
            name: "f".into(),
            description: "does it".into(),
            schema: Value::parse(r#"{"maximum":1.10}"#).unwrap(),
        };
        let request = Request {
            temperature: None,
            stop: vec!["END".into()],
            seed: Some(7),
            effort: Some(Effort::Low),
            max_ms: Some(1_000),
            metadata: [("run".to_owned(), "r1".to_owned())].into(),
            ..request().with_tools(vec![tool], ToolChoice::Named("f".into()))
        };
        let text = serde_json::to_string(&request).unwrap();
        insta::assert_snapshot!(text, @r#"{"messages":[{"role":"system","text":"be brief"},{"role":"user","text":"how much?"}],"tools":[{"name":"f","description":"does it","schema":{"maximum":1.10}}],"tool_choice":{"named":"f"},"temperature":null,"max_tokens":500,"format":{"schema":{"name":"amount","schema":{"type":"number","maximum":123456789012345678901234567890.10}}},"stop":["END"],"seed":7,"effort":"low","max_ms":1000,"metadata":{"run":"r1"}}"#);
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
