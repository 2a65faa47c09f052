//! How many tokens an attempt has used.

use serde::{Deserialize, Serialize};

use crate::{Format, Message, Request, Seal, Thought};

/// How many tokens an attempt has used, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the question, those from a cache and into it included.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the question that the provider had in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens of the question that the provider has put into its cache, where it asks for more for that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_written_tokens: u64,
    /// Tokens of the answer that were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Who counted.
    pub source: UsageSource,
}

/// Who counted the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider.
    Reported,
    /// We did, roughly: the provider did not say, or was cut off before it could.
    Estimated,
}

/// What a message costs besides its text: its role and the marks around it.
const TOKENS_PER_MESSAGE: u64 = 4;
/// About right for English and for JSON; too low for rare scripts.
const BYTES_PER_TOKEN: u64 = 4;

impl Usage {
    /// As the provider counted.
    pub const fn reported(input_tokens: u64, output_tokens: u64) -> Self {
        Self::of(input_tokens, output_tokens, UsageSource::Reported)
    }

    const fn of(input_tokens: u64, output_tokens: u64, source: UsageSource) -> Self {
        Self { input_tokens, output_tokens, cached_tokens: 0, cache_written_tokens: 0, reasoning_tokens: 0, source }
    }

    /// A rough count for a request and as much of its answer as has arrived.
    pub fn estimate(request: &Request, answer: &str) -> Self {
        let messages = request.messages.iter().map(message_tokens);
        let tools = request.tools.iter().map(|tool| {
            TOKENS_PER_MESSAGE + tokens(tool.name.len() + tool.description.len() + tool.schema.to_string().len())
        });
        let schema = match &request.format {
            Format::Schema { schema, .. } => tokens(schema.to_string().len()),
            Format::Json | Format::Text => 0,
        };
        let input = messages.chain(tools).fold(schema, u64::saturating_add);
        Self::of(input, tokens(answer.len()), UsageSource::Estimated)
    }
}

/// The most that the marks around a message or a tool take, whatever the model.
const MOST_TOKENS_OF_MARKS: u64 = 32;
/// The most that a provider tells a model itself about tools and the form of an answer.
const MOST_TOKENS_OF_INSTRUCTIONS: u64 = 1_000;

impl Usage {
    /// No attempt at this request can use more: no token is shorter than a byte, and no answer longer than it may be.
    pub fn most(request: &Request) -> Self {
        let messages = request.messages.iter().map(most_of_message);
        let tools = request.tools.iter().map(|tool| {
            let bytes = tool.name.len() + tool.description.len() + tool.schema.to_string().len();
            MOST_TOKENS_OF_MARKS.saturating_add(count(bytes))
        });
        let schema = match &request.format {
            Format::Schema { name, schema } => count(name.len() + schema.to_string().len()),
            Format::Json | Format::Text => 0,
        };
        let input = messages.chain(tools).fold(schema + MOST_TOKENS_OF_INSTRUCTIONS, u64::saturating_add);
        Self::of(input, u64::from(request.max_tokens), UsageSource::Estimated)
    }
}

fn most_of_message(message: &Message) -> u64 {
    let seal = |seal: &Option<Seal>| seal.as_ref().map_or(0, |seal| seal.text.len());
    let calls = message
        .tool_calls()
        .iter()
        .map(|call| call.id.as_str().len() + call.name.len() + call.arguments.len() + seal(&call.seal));
    let thoughts: &[Thought] = match message {
        Message::Assistant { reasoning, .. } => reasoning,
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
    };
    let thoughts = thoughts.iter().map(|thought| thought.text.len() + seal(&thought.seal));
    let marks = MOST_TOKENS_OF_MARKS.saturating_add(count(message.text().len()));
    calls
        .chain(thoughts)
        .map(|bytes| MOST_TOKENS_OF_MARKS.saturating_add(count(bytes)))
        .fold(marks, u64::saturating_add)
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn message_tokens(message: &Message) -> u64 {
    let calls = message.tool_calls().iter().map(|call| tokens(call.name.len() + call.arguments.len()));
    calls.fold(TOKENS_PER_MESSAGE + tokens(message.text().len()), u64::saturating_add)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tool, ToolCall, ToolChoice};
    use reknit_protocol::Value;

    #[test]
    fn an_estimate_counts_messages_schema_and_what_has_arrived_and_says_that_it_is_one() {
        let request = Request::new(vec![Message::user("12345678"), Message::user("1")], 10);
        let expected = Usage { source: UsageSource::Estimated, ..Usage::reported(4 + 2 + 4 + 1, 2) };
        assert_eq!(Usage::estimate(&request, "12345"), expected);

        let schema = Value::parse("{\"a\":1}").unwrap();
        let with_schema = request.clone().with_format(Format::Schema { name: "x".into(), schema: schema.clone() });
        assert_eq!(Usage::estimate(&with_schema, "").input_tokens, 13);

        let tool = Tool { name: "f".into(), description: String::new(), schema };
        let mut with_tools = request.with_tools(vec![tool], ToolChoice::Auto);
        with_tools.messages.push(Message::calls("", vec![ToolCall::new("1", "f", "{\"a\":1}")]));
        assert_eq!(Usage::estimate(&with_tools, "").input_tokens, 11 + 4 + 2 + 4 + 2);
    }

    #[test]
    fn no_more_can_be_used_than_a_token_for_each_byte_and_the_longest_answer() {
        let seal = Some(crate::Seal { format: "x".into(), text: "sealed".into() });
        let said = Message::Assistant {
            text: "ä".into(),
            tool_calls: vec![ToolCall { seal: seal.clone(), ..ToolCall::new("1", "f", "{}") }],
            reasoning: vec![Thought { text: "hm".into(), seal }],
        };
        let schema = Value::parse("{\"a\":1}").unwrap();
        let tool = Tool { name: "f".into(), description: "d".into(), schema: schema.clone() };
        let request = Request::new(vec![Message::user("12345"), said], 10)
            .with_tools(vec![tool], ToolChoice::Auto)
            .with_format(Format::Schema { name: "x".into(), schema });
        let marks = 5 * MOST_TOKENS_OF_MARKS + MOST_TOKENS_OF_INSTRUCTIONS;
        let most = Usage::most(&request);
        assert_eq!(most.input_tokens, marks + 5 + 2 + (1 + 1 + 2 + 6) + (2 + 6) + (1 + 1 + 7) + (1 + 7));
        assert_eq!((most.output_tokens, most.source), (10, UsageSource::Estimated));
    }
}
