//! Sample conversation for the tests of every wire format.

use reknit_model_api::{
    Effort, Message, ModelRequest, ProviderState, ResponseFormat, Thought, ToolCall, ToolChoice, ToolDefinition,
};
use reknit_protocol::Value;

use crate::request_body::RequestBody;
use crate::{Provider, Streaming, Target};

/// A target that does not stream.
pub(crate) fn target(provider: Provider, model: &str) -> Target {
    Target { streaming: Streaming::Off, ..Target::for_provider(provider, "a", model) }
}

/// Two calls, one with unreadable arguments, and their results; reasoning with the state of three providers.
pub(crate) fn conversation() -> ModelRequest {
    let state = |format: &str, text: &str| Some(ProviderState::new(format, text));
    let mut call = ToolCall::new("call.1", "convert", r#"{"amount": 46828.50}"#);
    call.provider_state = state("gemini", "g-1");
    let broken = ToolCall::new("call_2", "convert", r#"{"amount": "#);
    let reasoning = vec![
        Thought { text: "two calls".into(), provider_state: state("anthropic", "a-1") },
        Thought { text: String::new(), provider_state: state("anthropic-hidden", "a-2") },
        Thought { text: "so".into(), provider_state: state("openai-responses", r#"{"type":"reasoning","id":"rs"}"#) },
        Thought { text: "without state".into(), provider_state: None },
    ];
    let messages = vec![
        Message::system("Be brief."),
        Message::user("convert it"),
        Message::Assistant {
            text: String::new(),
            tool_calls: vec![call.clone(), broken.clone()],
            reasoning,
            content_state: None,
        },
        Message::tool_result(&call, "1.0"),
        Message::tool_error(&broken, "amount is missing"),
        Message::user("go on"),
    ];
    let tool = ToolDefinition {
        name: "convert".into(),
        description: "Converts.".into(),
        schema: Value::parse(r#"{"type":"object","properties":{"amount":{"type":"number"}}}"#).unwrap(),
    };
    ModelRequest {
        stop: vec!["END".into()],
        seed: Some(7),
        effort: Some(Effort::Low),
        metadata: [("user_id".to_owned(), "u1".to_owned())].into(),
        ..ModelRequest::new(messages, 9_000).with_tools(vec![tool], ToolChoice::Auto)
    }
}

/// The body that `render` makes, and its text in lines.
pub(crate) fn rendered(
    render: fn(&Target, &ModelRequest) -> RequestBody,
    provider: Provider,
    model: &str,
    request: &ModelRequest,
) -> (String, RequestBody) {
    let body = render(&target(provider, model), request);
    (body.json.to_string().replace("},{", "},\n{"), body)
}

pub(crate) fn with_schema(schema: &str) -> ModelRequest {
    let format = ResponseFormat::Schema { name: "x".into(), schema: Value::parse(schema).unwrap() };
    ModelRequest::new(vec![], 5).with_format(format)
}
