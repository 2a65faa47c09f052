//! Estimates the tokens of a question. Estimates are conservative, and get better with each exact count for a target.

use std::collections::BTreeMap;

use reknit_model_api::{Attachment, Message, ModelRequest, TargetName, ToolDefinition};
use serde::{Deserialize, Serialize};

/// The overhead of a message or tool besides its text.
const OVERHEAD_TOKENS: u64 = 8;

/// The size of a question in tokens, a conservative estimate for prose, JSON and code: a third of a token per ASCII
/// byte, half a token per other byte. Prose alone is nearer to a quarter.
pub(super) fn size(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(size_of_message);
    let tools = request.tools.iter().map(size_of_tool);
    messages.chain(tools).fold(0, u64::saturating_add)
}

pub(super) fn size_of_message(message: &Message) -> u64 {
    let calls = message
        .tool_calls()
        .iter()
        .map(|call| OVERHEAD_TOKENS + size_of_text(&call.name) + size_of_text(&call.arguments));
    let reasoning = match message {
        // Providers want their reasoning sent back.
        Message::Assistant { reasoning, .. } => reasoning.iter().map(|part| size_of_text(&part.text)).sum(),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
    };
    let attachments = message.attachments().iter().map(Attachment::tokens);
    calls.chain(attachments).fold(OVERHEAD_TOKENS + size_of_text(message.text()) + reasoning, u64::saturating_add)
}

fn size_of_tool(tool: &ToolDefinition) -> u64 {
    OVERHEAD_TOKENS
        + size_of_text(&tool.name)
        + size_of_text(&tool.description)
        + size_of_text(&tool.schema.to_string())
}

pub(super) fn size_of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.len() - ascii;
    u64::try_from(ascii.div_ceil(3) + others.div_ceil(2)).unwrap_or(u64::MAX)
}

/// The last exact token count per target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct TokenCounts(BTreeMap<TargetName, TokenCount>);

/// An exact token count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct TokenCount {
    /// The estimated size of the same question.
    size: u64,
    tokens: u64,
}

impl TokenCounts {
    /// Records the exact token count of a question with this estimated size.
    pub(super) fn record(&mut self, target: &TargetName, size: u64, tokens: u64) {
        if size > 0 && tokens > 0 {
            self.0.insert(target.clone(), TokenCount { size, tokens });
        }
    }

    /// Whether the last exact count is for a question of this size.
    pub(super) fn is_exact(&self, target: &TargetName, size: u64) -> bool {
        self.0.get(target).is_some_and(|count| count.size == size)
    }

    /// Estimates the tokens of a question with this size: the last exact count plus the estimated growth since.
    pub(super) fn estimate(&self, target: &TargetName, size: u64) -> u64 {
        match self.0.get(target) {
            None => size,
            Some(count) if size >= count.size => count.tokens.saturating_add(size - count.size),
            // Part of the question was removed. Add a tenth, because the rest may have more tokens per byte.
            Some(count) => {
                let estimate = u128::from(count.tokens) * u128::from(size) * 11 / (u128::from(count.size) * 10);
                u64::try_from(estimate).unwrap_or(u64::MAX).min(count.tokens).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reknit_model_api::ToolChoice;
    use reknit_protocol::Value;

    use super::*;

    #[test]
    fn the_size_of_a_question_includes_its_tools_and_their_schemas() {
        let bare = ModelRequest::new(vec![Message::user("1234"), Message::user("äö")], 10);
        assert_eq!(size(&bare), 8 + 2 + 8 + 2);
        let schema = Value::parse(r#"{"type":"object"}"#).unwrap();
        let tool = ToolDefinition { name: "f".into(), description: "does".into(), schema };
        assert_eq!(size(&bare.with_tools(vec![tool], ToolChoice::Auto)), 20 + 8 + 1 + 2 + 6);
    }

    #[test]
    fn an_estimate_starts_from_the_last_exact_count_and_rounds_up() {
        let (mut counts, target) = (TokenCounts::default(), TargetName::from("a"));
        assert_eq!(counts.estimate(&target, 500), 500);
        counts.record(&target, 400, 100);
        for (size, tokens) in [(400, 100), (460, 160), (200, 55), (399, 100), (0, 1)] {
            assert_eq!(counts.estimate(&target, size), tokens, "{size}");
        }
        assert!(counts.is_exact(&target, 400) && !counts.is_exact(&target, 401));
    }
}
