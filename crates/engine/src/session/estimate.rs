//! How many tokens a question has: rather too many than too few, and better the more often a target has counted itself.

use std::collections::BTreeMap;

use reknit_dialogue::{Message, Request, TargetName, Tool};
use serde::{Deserialize, Serialize};

/// What a message or a tool costs besides its text.
const FRAME: u64 = 8;

/// The size of a question in tokens, on the safe side for what agents see (words, JSON, code): a third of a token for each byte
/// of ASCII, half of one for every other byte. Words alone are nearer to a quarter.
pub(super) fn size(request: &Request) -> u64 {
    let messages = request.messages.iter().map(size_of_message);
    let tools = request.tools.iter().map(size_of_tool);
    messages.chain(tools).fold(0, u64::saturating_add)
}

pub(super) fn size_of_message(message: &Message) -> u64 {
    let calls =
        message.tool_calls().iter().map(|call| FRAME + size_of_text(&call.name) + size_of_text(&call.arguments));
    let thoughts = match message {
        // What a provider has sealed goes back to it.
        Message::Assistant { reasoning, .. } => reasoning.iter().map(|thought| size_of_text(&thought.text)).sum(),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
    };
    calls.fold(FRAME + size_of_text(message.text()) + thoughts, u64::saturating_add)
}

fn size_of_tool(tool: &Tool) -> u64 {
    FRAME + size_of_text(&tool.name) + size_of_text(&tool.description) + size_of_text(&tool.schema.to_string())
}

pub(super) fn size_of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.len() - ascii;
    u64::try_from(ascii.div_ceil(3) + others.div_ceil(2)).unwrap_or(u64::MAX)
}

/// What is known about how targets count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Meters(BTreeMap<TargetName, Meter>);

/// The last question that was counted for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Meter {
    /// Its size as we see it.
    size: u64,
    tokens: u64,
}

impl Meters {
    /// Takes down how many tokens a question of this size had.
    pub(super) fn note(&mut self, target: &TargetName, size: u64, tokens: u64) {
        if size > 0 && tokens > 0 {
            self.0.insert(target.clone(), Meter { size, tokens });
        }
    }

    /// Whether a question of just this size was counted last.
    pub(super) fn has_counted(&self, target: &TargetName, size: u64) -> bool {
        self.0.get(target).is_some_and(|meter| meter.size == size)
    }

    /// How many tokens a question of this size will have. What was counted before is taken as it was counted, and what has
    /// come to it as large as it can be.
    pub(super) fn tokens(&self, target: &TargetName, size: u64) -> u64 {
        match self.0.get(target) {
            None => size,
            Some(meter) if size >= meter.size => meter.tokens.saturating_add(size - meter.size),
            // Something was taken out of it. A tenth more, for what is left may be denser than what went.
            Some(meter) => {
                let share = u128::from(meter.tokens) * u128::from(size) * 11 / (u128::from(meter.size) * 10);
                u64::try_from(share).unwrap_or(u64::MAX).min(meter.tokens).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reknit_dialogue::ToolChoice;
    use reknit_protocol::Value;

    use super::*;

    #[test]
    fn everything_in_a_question_counts_and_the_schemas_of_its_tools_too() {
        let bare = Request::new(vec![Message::user("1234"), Message::user("äö")], 10);
        assert_eq!(size(&bare), 8 + 2 + 8 + 2);
        let schema = Value::parse(r#"{"type":"object"}"#).unwrap();
        let tool = Tool { name: "f".into(), description: "does".into(), schema };
        assert_eq!(size(&bare.with_tools(vec![tool], ToolChoice::Auto)), 20 + 8 + 1 + 2 + 6);
    }

    #[test]
    fn what_was_counted_is_known_and_what_came_to_it_is_taken_for_large() {
        let (mut meters, target) = (Meters::default(), TargetName::from("a"));
        assert_eq!(meters.tokens(&target, 500), 500);
        meters.note(&target, 400, 100);
        for (size, tokens) in [(400, 100), (460, 160), (200, 55), (399, 100), (0, 1)] {
            assert_eq!(meters.tokens(&target, size), tokens, "{size}");
        }
        assert!(meters.has_counted(&target, 400) && !meters.has_counted(&target, 401));
    }
}
