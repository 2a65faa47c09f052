//! Token usage: as reported, and estimates and upper bounds of what a request costs.

use serde::{Deserialize, Serialize};

use crate::{Attachment, Message, ModelRequest, ProviderState, ResponseFormat, Thought, is_default};

/// Overhead of a message besides its text: its role and delimiters.
const TOKENS_PER_MESSAGE: u64 = 4;
/// About right for English and JSON; too few tokens for rare scripts.
const BYTES_PER_TOKEN: u64 = 4;
/// Upper bound of the delimiters around a message or a tool, for any model.
const MAX_DELIMITER_TOKENS: u64 = 32;
/// Upper bound of the instructions about tools and formats that a provider adds itself.
const MAX_INSTRUCTION_TOKENS: u64 = 1_000;

/// Tokens that an attempt has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, cached and cache-written ones included.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the request that the provider read from its cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cached_tokens: u64,
    /// Tokens of the request that the provider wrote to its cache, where it charges for that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache_written_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub reasoning_tokens: u64,
    pub source: UsageSource,
}

/// Where token counts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    Reported,
    /// Estimated, because the provider did not report them or the response broke off before.
    Estimated,
}

impl Usage {
    pub const fn reported(input_tokens: u64, output_tokens: u64) -> Self {
        Self::of(input_tokens, output_tokens, UsageSource::Reported)
    }

    const fn of(input_tokens: u64, output_tokens: u64, source: UsageSource) -> Self {
        Self { input_tokens, output_tokens, cached_tokens: 0, cache_written_tokens: 0, reasoning_tokens: 0, source }
    }

    /// A rough estimate for a request and the part of its answer that has arrived.
    pub fn estimate(request: &ModelRequest, answer: &str) -> Self {
        let input = input_tokens(request, message_tokens, TOKENS_PER_MESSAGE, tokens);
        Self::of(input, tokens(answer.len()), UsageSource::Estimated)
    }

    /// An upper bound for any attempt at this request: one token for each byte, and the longest answer allowed.
    pub fn upper_bound(request: &ModelRequest) -> Self {
        let name = match &request.format {
            ResponseFormat::Schema { name, .. } => name.len(),
            ResponseFormat::Json | ResponseFormat::Text => 0,
        };
        let input = input_tokens(request, max_message_tokens, MAX_DELIMITER_TOKENS, byte_count);
        let input = input.saturating_add(MAX_INSTRUCTION_TOKENS).saturating_add(byte_count(name));
        Self::of(input, u64::from(request.max_tokens), UsageSource::Estimated)
    }
}

/// The tokens of messages, tools and schema. `tokens_of` is for a number of bytes, and `per_tool` comes on top for each tool.
fn input_tokens(
    request: &ModelRequest,
    message: fn(&Message) -> u64,
    per_tool: u64,
    tokens_of: fn(usize) -> u64,
) -> u64 {
    let tools = request.tools.iter().map(|tool| {
        let bytes = tool.name.len() + tool.description.len() + tool.schema.to_string().len();
        per_tool.saturating_add(tokens_of(bytes))
    });
    let schema = match &request.format {
        ResponseFormat::Schema { schema, .. } => tokens_of(schema.to_string().len()),
        ResponseFormat::Json | ResponseFormat::Text => 0,
    };
    request.messages.iter().map(message).chain(tools).fold(schema, u64::saturating_add)
}

fn max_message_tokens(message: &Message) -> u64 {
    let state_bytes = |state: &Option<ProviderState>| state.as_ref().map_or(0, |state| state.text.len());
    let calls = message.tool_calls().iter().map(|call| {
        call.id.as_str().len() + call.name.len() + call.arguments.len() + state_bytes(&call.provider_state)
    });
    let thoughts: &[Thought] = match message {
        Message::Assistant { reasoning, .. } => reasoning,
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
    };
    let thoughts = thoughts.iter().map(|thought| thought.text.len() + state_bytes(&thought.provider_state));
    let text = MAX_DELIMITER_TOKENS.saturating_add(byte_count(message.text().len()));
    let attachments = message.attachments().iter().map(Attachment::max_tokens);
    calls
        .chain(thoughts)
        .map(|bytes| MAX_DELIMITER_TOKENS.saturating_add(byte_count(bytes)))
        .chain(attachments)
        .fold(text, u64::saturating_add)
}

fn byte_count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn message_tokens(message: &Message) -> u64 {
    let calls = message.tool_calls().iter().map(|call| tokens(call.name.len() + call.arguments.len()));
    let attachments = message.attachments().iter().map(Attachment::tokens);
    calls.chain(attachments).fold(TOKENS_PER_MESSAGE + tokens(message.text().len()), u64::saturating_add)
}

fn tokens(bytes: usize) -> u64 {
    byte_count(bytes).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolCall, ToolChoice, ToolDefinition};
    use reknit_protocol::Value;

    #[test]
    fn an_estimate_counts_messages_schema_tools_and_the_text_that_arrived() {
        let request = ModelRequest::new(vec![Message::user("12345678"), Message::user("1")], 10);
        let expected = Usage { source: UsageSource::Estimated, ..Usage::reported(4 + 2 + 4 + 1, 2) };
        assert_eq!(Usage::estimate(&request, "12345"), expected);

        let schema = Value::parse("{\"a\":1}").unwrap();
        let with_schema =
            request.clone().with_format(ResponseFormat::Schema { name: "x".into(), schema: schema.clone() });
        assert_eq!(Usage::estimate(&with_schema, "").input_tokens, 13);

        let tool = ToolDefinition { name: "f".into(), description: String::new(), schema };
        let mut with_tools = request.with_tools(vec![tool], ToolChoice::Auto);
        with_tools.messages.push(Message::assistant_with_calls("", vec![ToolCall::new("1", "f", "{\"a\":1}")]));
        assert_eq!(Usage::estimate(&with_tools, "").input_tokens, 11 + 4 + 2 + 4 + 2);
    }

    #[test]
    fn the_upper_bound_is_a_token_for_each_byte_and_the_longest_answer() {
        let provider_state = Some(ProviderState::new("x", "opaque"));
        let message = Message::Assistant {
            text: "ä".into(),
            tool_calls: vec![ToolCall { provider_state: provider_state.clone(), ..ToolCall::new("1", "f", "{}") }],
            reasoning: vec![Thought { text: "hm".into(), provider_state }],
            content_state: None,
        };
        let schema = Value::parse("{\"a\":1}").unwrap();
        let tool = ToolDefinition { name: "f".into(), description: "d".into(), schema: schema.clone() };
        let request = ModelRequest::new(vec![Message::user("12345"), message], 10)
            .with_tools(vec![tool], ToolChoice::Auto)
            .with_format(ResponseFormat::Schema { name: "x".into(), schema });
        let overhead = 5 * MAX_DELIMITER_TOKENS + MAX_INSTRUCTION_TOKENS;
        let bound = Usage::upper_bound(&request);
        assert_eq!(bound.input_tokens, overhead + 5 + 2 + (1 + 1 + 2 + 6) + (2 + 6) + (1 + 1 + 7) + (1 + 7));
        assert_eq!((bound.output_tokens, bound.source), (10, UsageSource::Estimated));
    }
}
