//! A conversation with everything in it, for the tests of every wire format.

use reknit_dialogue::{Effort, Message, Request, Seal, Thought, Tool, ToolCall, ToolChoice};
use reknit_protocol::Value;

use crate::{Provider, Streaming, Target};

/// A target that does not stream.
pub(crate) fn target(provider: Provider, model: &str) -> Target {
    Target { streaming: Streaming::Off, ..Target::of(provider, "a", model) }
}

/// Two calls, one of them broken, and their answers; thoughts sealed by three providers.
pub(crate) fn conversation() -> Request {
    let seal = |format: &str, text: &str| Some(Seal { format: format.into(), text: text.into() });
    let mut call = ToolCall::new("call.1", "convert", r#"{"amount": 46828.50}"#);
    call.seal = seal("gemini", "g-1");
    let broken = ToolCall::new("call_2", "convert", r#"{"amount": "#);
    let reasoning = vec![
        Thought { text: "two calls".into(), seal: seal("anthropic", "a-1") },
        Thought { text: String::new(), seal: seal("anthropic-hidden", "a-2") },
        Thought { text: "so".into(), seal: seal("openai-responses", r#"{"type":"reasoning","id":"rs"}"#) },
        Thought { text: "unsealed".into(), seal: None },
    ];
    let messages = vec![
        Message::system("Be brief."),
        Message::user("convert it"),
        Message::Assistant { text: String::new(), tool_calls: vec![call.clone(), broken.clone()], reasoning },
        Message::result(&call, "1.0"),
        Message::error(&broken, "amount is missing"),
        Message::user("go on"),
    ];
    let tool = Tool {
        name: "convert".into(),
        description: "Converts.".into(),
        schema: Value::parse(r#"{"type":"object","properties":{"amount":{"type":"number"}}}"#).unwrap(),
    };
    Request {
        stop: vec!["END".into()],
        seed: Some(7),
        effort: Some(Effort::Low),
        metadata: [("user_id".to_owned(), "u1".to_owned())].into(),
        ..Request::new(messages, 9_000).with_tools(vec![tool], ToolChoice::Auto)
    }
}
