//! Requests to models.

use std::collections::BTreeMap;

use reknit_protocol::{Value, word_enum};
use serde::{Deserialize, Serialize};

use crate::{Message, Temperature, TopP, is_default};

/// One request to a model, independent of the target.
///
/// Options that a target does not support are not sent, and are listed in
/// [`ModelAnswer::omitted_options`](crate::ModelAnswer::omitted_options).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub tool_choice: ToolChoice,
    /// Whether the model may call several tools in one answer; the provider's default if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// Sampling temperature; the provider's default if none.
    pub temperature: Option<Temperature>,
    /// Share of probability from which tokens are sampled; the provider's default if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<TopP>,
    /// The most tokens of the answer, reasoning included.
    pub max_tokens: u32,
    pub format: ResponseFormat,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Sampling seed, where the provider supports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Reasoning effort; the provider's default if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The most tokens of reasoning, where the provider has such a limit; 0 turns reasoning off. It counts more than `effort`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u32>,
    /// Timeout of the whole answer, if it is shorter than the target's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl ModelRequest {
    /// A request for plain text, at temperature 0, without tools.
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self {
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            temperature: Some(Temperature::ZERO),
            top_p: None,
            max_tokens,
            format: ResponseFormat::Text,
            stop: Vec::new(),
            seed: None,
            effort: None,
            thinking_tokens: None,
            timeout_ms: None,
            metadata: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn with_temperature(self, temperature: Temperature) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    #[must_use]
    pub fn with_format(self, format: ResponseFormat) -> Self {
        Self { format, ..self }
    }

    #[must_use]
    pub fn with_tools(self, tools: Vec<ToolDefinition>, tool_choice: ToolChoice) -> Self {
        Self { tools, tool_choice, ..self }
    }
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Letters, digits, `_` and `-`; most providers refuse other characters.
    pub name: String,
    pub description: String,
    #[serde(with = "reknit_protocol::exact")]
    pub schema: Value,
}

/// Whether the model may or must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
    /// The model sees the tools but must not call one.
    None,
    /// The model must call at least one tool.
    Required,
    Named(String),
}

impl ToolChoice {
    pub const fn is_forced(&self) -> bool {
        matches!(self, Self::Required | Self::Named(_))
    }
}

/// Requested format of an answer. The provider may be asked for less, as [`FormatUsed`](crate::FormatUsed) says, and its
/// answer must be checked in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    Text,
    Json,
    Schema {
        /// Name of the schema for the provider: letters, digits, `_` and `-`.
        name: String,
        #[serde(with = "reknit_protocol::exact")]
        schema: Value,
    },
}

word_enum! {
    /// How much a model should reason before it answers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Effort {
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ModelRequest {
        let schema = Value::parse(r#"{"type":"number","maximum":123456789012345678901234567890.10}"#).unwrap();
        ModelRequest::new(vec![Message::system("be brief"), Message::user("how much?")], 500)
            .with_temperature(Temperature::from_hundredths(30).unwrap())
            .with_format(ResponseFormat::Schema { name: "amount".into(), schema })
    }

    #[test]
    fn a_request_survives_serialization_with_every_digit_of_its_schema() {
        let text = serde_json::to_string(&request()).unwrap();
        insta::assert_snapshot!(text, @r#"{"messages":[{"role":"system","text":"be brief"},{"role":"user","text":"how much?"}],"temperature":0.3,"max_tokens":500,"format":{"schema":{"name":"amount","schema":{"type":"number","maximum":123456789012345678901234567890.10}}}}"#);
        assert_eq!(serde_json::from_str::<ModelRequest>(&text).unwrap(), request());
    }

    #[test]
    fn a_request_with_all_fields_survives_serialization() {
        let tool = ToolDefinition {
            name: "f".into(),
            description: "does it".into(),
            schema: Value::parse(r#"{"maximum":1.10}"#).unwrap(),
        };
        let request = ModelRequest {
            temperature: None,
            stop: vec!["END".into()],
            seed: Some(7),
            effort: Some(Effort::Low),
            parallel_tool_calls: Some(false),
            top_p: TopP::try_from(0.95).ok(),
            thinking_tokens: Some(2_000),
            timeout_ms: Some(1_000),
            metadata: [("run".to_owned(), "r1".to_owned())].into(),
            ..request().with_tools(vec![tool], ToolChoice::Named("f".into()))
        };
        let text = serde_json::to_string(&request).unwrap();
        insta::assert_snapshot!(text, @r#"{"messages":[{"role":"system","text":"be brief"},{"role":"user","text":"how much?"}],"tools":[{"name":"f","description":"does it","schema":{"maximum":1.10}}],"tool_choice":{"named":"f"},"parallel_tool_calls":false,"temperature":null,"top_p":0.95,"max_tokens":500,"format":{"schema":{"name":"amount","schema":{"type":"number","maximum":123456789012345678901234567890.10}}},"stop":["END"],"seed":7,"effort":"low","thinking_tokens":2000,"timeout_ms":1000,"metadata":{"run":"r1"}}"#);
        assert_eq!(serde_json::from_str::<ModelRequest>(&text).unwrap(), request);
    }
}
