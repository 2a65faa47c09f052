//! Which part of a request the provider should keep in its cache: the part that the next request begins with as well.

use reknit_model_api::{Message, ModelRequest};

use crate::request_body::system_texts;
use crate::{Caching, Target};

/// No provider keeps fewer tokens than 1024, and hardly any text has fewer bytes per token.
const MIN_BYTES: usize = 4 * 1024;

/// The places in a request behind which the provider should keep what it has read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CachePoints {
    /// Behind the instructions and the tools, which are the same in every request of a purpose or a session.
    pub(crate) instructions: bool,
    /// Behind this message: what follows may differ in the next request of a session.
    pub(crate) message: Option<usize>,
}

pub(crate) fn cache_points(target: &Target, request: &ModelRequest) -> CachePoints {
    if target.caching == Caching::Off {
        return CachePoints::default();
    }
    let instructions = instruction_bytes(request);
    // Notices behind the last result are not part of the next request. A request without tools has no next turn.
    let messages = &request.messages;
    let last_result = messages.iter().rposition(|message| matches!(message, Message::Tool { .. }));
    let first_input = || messages.iter().position(|message| matches!(message, Message::User { .. }));
    let message = last_result.or_else(first_input).filter(|_| !request.tools.is_empty());
    let up_to = |index: &usize| messages.iter().take(*index + 1).map(bytes).sum::<usize>();
    let message = message.filter(|index| instructions + up_to(index) >= MIN_BYTES);
    CachePoints { instructions: instructions >= MIN_BYTES, message }
}

/// The key under which requests with the same instructions and tools share a cache; none if there is too little to share.
pub(crate) fn cache_key(target: &Target, request: &ModelRequest) -> Option<String> {
    if target.caching == Caching::Off || instruction_bytes(request) < MIN_BYTES {
        return None;
    }
    // FNV-1a: the key only has to differ, and to stay the same in the next process.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    system_texts(request).for_each(&mut add);
    for tool in &request.tools {
        add(&tool.name);
        add(&tool.description);
        add(&tool.schema.to_string());
    }
    Some(format!("reknit-{hash:016x}"))
}

fn instruction_bytes(request: &ModelRequest) -> usize {
    let tools = request.tools.iter().map(|tool| tool.description.len() + tool.schema.to_string().len());
    system_texts(request).map(str::len).chain(tools).sum()
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::System { .. } => 0,
        _ => message.text().len() + message.tool_calls().iter().map(|call| call.arguments.len()).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use reknit_model_api::{ToolCall, ToolChoice};

    use super::*;
    use crate::sample::conversation;

    fn target(caching: Caching) -> Target {
        Target { caching, ..Target::new("a", "http://localhost", "m") }
    }

    #[test]
    fn the_instructions_are_kept_if_they_are_long_and_the_conversation_up_to_the_last_result() {
        let on = target(Caching::On);
        assert_eq!(cache_points(&on, &conversation()), CachePoints::default());
        let mut long = conversation();
        long.messages[0] = Message::system("x".repeat(MIN_BYTES));
        assert_eq!(cache_points(&on, &long), CachePoints { instructions: true, message: Some(4) });
        assert_eq!(cache_points(&target(Caching::Off), &long), CachePoints::default());

        let mut one_shot = long.clone().with_tools(vec![], ToolChoice::Auto);
        one_shot.messages.truncate(2);
        assert_eq!(cache_points(&on, &one_shot), CachePoints { instructions: true, message: None });

        let mut growing = conversation();
        growing.messages[3] = Message::tool_result(&ToolCall::new("call.1", "convert", ""), "x".repeat(MIN_BYTES));
        assert_eq!(cache_points(&on, &growing), CachePoints { instructions: false, message: Some(4) });
    }

    #[test]
    fn the_key_follows_from_instructions_and_tools_only() {
        let on = target(Caching::On);
        let mut first = conversation();
        assert_eq!(cache_key(&on, &first), None);
        first.messages[0] = Message::system("x".repeat(MIN_BYTES));
        let mut later = first.clone();
        later.messages.push(Message::user("and now?"));
        assert_eq!(cache_key(&on, &later), cache_key(&on, &first));
        later.messages[0] = Message::system("y".repeat(MIN_BYTES));
        assert_ne!(cache_key(&on, &later), cache_key(&on, &first));
        assert_eq!(cache_key(&target(Caching::Off), &first), None);
    }
}
