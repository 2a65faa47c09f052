//! Several turns with tools and reasoning: what a provider needs back is sent as it came, byte for byte.

use reknit_model_api::{Message, ModelAnswer};

use super::tests::sse;
use super::*;
use crate::event_decoder::frames::tests::event;
use crate::sample::target;
use crate::{decode_body, decode_stream};

/// The second request of a conversation: a question, the answer, and a result for each of its calls.
fn next_request(answer: &ModelAnswer) -> ModelRequest {
    let results = answer.tool_calls.iter().map(|call| Message::tool_result(call, "7"));
    let messages = [Message::user("how much?"), Message::from(answer)].into_iter().chain(results).collect();
    ModelRequest::new(messages, 9_000)
}

fn sent_back(provider: Provider, model: &str, answer: &ModelAnswer) -> String {
    WireFormat::of(provider).render(&target(provider, model), &next_request(answer)).json.to_string()
}

fn whole(provider: Provider, body: &str) -> ModelAnswer {
    decode_body(provider, &ModelRequest::new(vec![Message::user("how much?")], 9), body.as_bytes()).unwrap()
}

fn streamed(provider: Provider, stream: &[u8]) -> ModelAnswer {
    let request = ModelRequest::new(vec![Message::user("how much?")], 9);
    decode_stream(provider, &request, stream.chunks(5), &mut |_| {}).unwrap()
}

#[test]
fn the_blocks_of_anthropic_are_sent_back_in_their_order() {
    let content = concat!(
        r#"[{"type":"thinking","thinking":"First.","signature":"s-1"},{"type":"text","text":"Let me see."},"#,
        r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"won"}},"#,
        r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://x","encrypted_content":"e-1"}]},"#,
        r#"{"type":"redacted_thinking","data":"d-1"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"x":1.50}}]"#
    );
    let body = format!(r#"{{"id":"1","model":"claude-sonnet-4-5","content":{content},"stop_reason":"tool_use"}}"#);
    let answer = whole(Provider::Anthropic, &body);
    assert_eq!((answer.text.as_str(), answer.tool_calls.len(), answer.reasoning.len()), ("Let me see.", 1, 2));
    for provider in [Provider::Anthropic, Provider::VertexAnthropic] {
        let sent = sent_back(provider, "claude-sonnet-4-5", &answer);
        assert!(sent.contains(&format!(r#"{{"role":"assistant","content":{content}}}"#)), "{sent}");
    }

    let stream = [
        r#"{"type":"message_start","message":{"id":"1","model":"claude-sonnet-4-5"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"First."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s-1"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me "}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"see."}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"won\"}"}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://x","encrypted_content":"e-1"}]}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"redacted_thinking","data":"d-1"}}"#,
        r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1.50}"}}"#,
        r#"{"type":"content_block_stop","index":5}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let answer = streamed(Provider::Anthropic, &sse(&stream.join("\n")));
    let sent = sent_back(Provider::Anthropic, "claude-sonnet-4-5", &answer);
    assert!(sent.contains(&format!(r#"{{"role":"assistant","content":{content}}}"#)), "{sent}");
}

#[test]
fn the_blocks_of_anthropic_in_the_usual_order_need_no_state() {
    let content = concat!(
        r#"[{"type":"thinking","thinking":"First.","signature":"s-1"},{"type":"redacted_thinking","data":"d-1"},"#,
        r#"{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"f","input":{"x":1.50}}]"#
    );
    let answer = whole(Provider::Anthropic, &format!(r#"{{"content":{content},"stop_reason":"tool_use"}}"#));
    assert_eq!(answer.content_state, None);
    let sent = sent_back(Provider::Anthropic, "claude-sonnet-4-5", &answer);
    assert!(sent.contains(&format!(r#"{{"role":"assistant","content":{content}}}"#)), "{sent}");
}

#[test]
fn a_state_that_says_something_else_than_the_message_is_not_sent() {
    let content = r#"[{"type":"text","text":"a"},{"type":"thinking","thinking":"b","signature":"s"}]"#;
    let mut answer = whole(Provider::Anthropic, &format!(r#"{{"content":{content},"stop_reason":"end_turn"}}"#));
    assert!(answer.content_state.is_some());
    answer.text = "changed".into();
    let sent = sent_back(Provider::Anthropic, "claude-sonnet-4-5", &answer);
    assert!(sent.contains(r#"{"type":"text","text":"changed"}"#) && !sent.contains(r#""text":"a""#), "{sent}");
    let elsewhere = sent_back(Provider::Compatible, "m", &answer);
    assert!(elsewhere.contains(r#"{"role":"assistant","content":"changed"}"#), "{elsewhere}");
}

#[test]
fn the_signatures_of_gemini_are_sent_back_with_their_parts() {
    let parts = concat!(
        r#"[{"text":"Hm.","thought":true},{"text":"One "},{"text":"moment","thoughtSignature":"t-1"},"#,
        r#"{"functionCall":{"id":"c-1","name":"f","args":{"x":1.50}},"thoughtSignature":"t-2"},"#,
        r#"{"functionCall":{"id":"c-2","name":"f","args":{}}},{"text":"","thoughtSignature":"t-3"}]"#
    );
    let answer = whole(
        Provider::Gemini,
        &format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":{parts}}},"finishReason":"STOP"}}]}}"#),
    );
    assert_eq!(answer.text, "One moment");
    for provider in [Provider::Gemini, Provider::Vertex] {
        let sent = sent_back(provider, "gemini-3-pro-preview", &answer);
        assert!(sent.contains(&format!(r#"{{"role":"model","parts":{parts}}}"#)), "{sent}");
    }

    let event = |parts: &str| format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}}}}]}}"#);
    let stream = [
        event(r#"{"text":"H","thought":true}"#),
        event(r#"{"text":"m.","thought":true},{"text":"One "}"#),
        event(r#"{"text":"moment","thoughtSignature":"t-1"}"#),
        event(r#"{"functionCall":{"id":"c-1","name":"f","args":{"x":1.50}},"thoughtSignature":"t-2"}"#),
        event(r#"{"functionCall":{"id":"c-2","name":"f","args":{}}}"#),
        r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"t-3"}]},"finishReason":"STOP"}]}"#
            .to_owned(),
    ];
    let answer = streamed(Provider::Gemini, &sse(&stream.join("\n")));
    let sent = sent_back(Provider::Gemini, "gemini-3-pro-preview", &answer);
    assert!(sent.contains(&format!(r#"{{"role":"model","parts":{parts}}}"#)), "{sent}");
}

#[test]
fn vertex_gets_no_id_that_it_did_not_give() {
    let body =
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}]}"#;
    let answer = whole(Provider::Vertex, body);
    assert_eq!(answer.tool_calls[0].id.as_str(), "call_1");
    assert!(!sent_back(Provider::Vertex, "gemini-2.5-flash", &answer).contains(r#""id""#));
    assert_eq!(sent_back(Provider::Gemini, "gemini-2.5-flash", &answer).matches(r#""id":"call_1""#).count(), 2);
}

#[test]
fn the_reasoning_items_of_openai_are_sent_back_unchanged() {
    let item = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"e==","status":null}"#;
    let call = r#"{"type":"function_call","call_id":"c-1","name":"f","arguments":"{\"x\":1.50}"}"#;
    let answer =
        whole(Provider::OpenAiResponses, &format!(r#"{{"id":"1","status":"completed","output":[{item},{call}]}}"#));
    let sent = sent_back(Provider::OpenAiResponses, "gpt-5-mini", &answer);
    assert!(sent.contains(&format!("{item},{call},")), "{sent}");
}

#[test]
fn the_reasoning_details_of_a_router_are_sent_back_unchanged() {
    let details = concat!(
        r#"[{"type":"reasoning.text","text":"First, then.","format":"anthropic-claude-v1","index":0,"signature":"s-1"},"#,
        r#"{"type":"reasoning.encrypted","data":"e-1","id":"rs_1","format":"openai-responses-v1","index":1}]"#
    );
    let call = r#"{"id":"c-1","type":"function","function":{"name":"f","arguments":"{\"x\":1.50}"}}"#;
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"","reasoning":"First, then.","reasoning_details":{details},"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let answer = whole(Provider::Compatible, &body);
    let sent = sent_back(Provider::Compatible, "anthropic/claude-sonnet-4.5", &answer);
    assert!(sent.contains(&format!(r#""tool_calls":[{call}],"reasoning_details":{details}}}"#)), "{sent}");
    assert!(!sent_back(Provider::OpenAi, "gpt-5", &answer).contains("reasoning_details"));

    let deltas = [
        r#"{"reasoning":"First,","reasoning_details":[{"type":"reasoning.text","text":"First,","format":"anthropic-claude-v1","index":0}]}"#,
        r#"{"reasoning":" then.","reasoning_details":[{"type":"reasoning.text","text":" then.","format":"anthropic-claude-v1","index":0}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.text","signature":"s-1","format":"anthropic-claude-v1","index":0}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"e-1","id":"rs_1","format":"openai-responses-v1","index":1}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"c-1","type":"function","function":{"name":"f","arguments":"{\"x\":1.50}"}}]}"#,
    ];
    let events = deltas.map(|delta| format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#));
    let answer = streamed(Provider::Compatible, &sse(&format!("{}\n[DONE]", events.join("\n"))));
    let sent = sent_back(Provider::Compatible, "anthropic/claude-sonnet-4.5", &answer);
    assert!(sent.contains(&format!(r#""reasoning_details":{details}}}"#)), "{sent}");
}

#[test]
fn the_reasoning_of_bedrock_is_sent_back_with_its_signature() {
    let content = concat!(
        r#"[{"reasoningContent":{"reasoningText":{"text":"First.","signature":"s-1"}}},{"reasoningContent":{"redactedContent":"cg=="}},"#,
        r#"{"text":"A moment."},{"toolUse":{"toolUseId":"t-1","name":"f","input":{"x":1.50}}}]"#
    );
    let body =
        format!(r#"{{"output":{{"message":{{"role":"assistant","content":{content}}}}},"stopReason":"tool_use"}}"#);
    let model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    let sent = sent_back(Provider::Bedrock, model, &whole(Provider::Bedrock, &body));
    assert!(sent.contains(&format!(r#"{{"role":"assistant","content":{content}}}"#)), "{sent}");
    assert!(sent.contains(r#"{"toolResult":{"toolUseId":"t-1","content":[{"text":"7"}]}}"#), "{sent}");

    let delta = |index: u32, delta: &str| {
        event("contentBlockDelta", &format!(r#"{{"contentBlockIndex":{index},"delta":{delta}}}"#))
    };
    let stream = [
        delta(0, r#"{"reasoningContent":{"text":"First."}}"#),
        delta(0, r#"{"reasoningContent":{"signature":"s-1"}}"#),
        delta(1, r#"{"reasoningContent":{"redactedContent":"cg=="}}"#),
        delta(2, r#"{"text":"A moment."}"#),
        event("contentBlockStart", r#"{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"t-1","name":"f"}}}"#),
        delta(3, r#"{"toolUse":{"input":"{\"x\":1.50}"}}"#),
        event("messageStop", r#"{"stopReason":"tool_use"}"#),
        event("metadata", "{}"),
    ];
    let sent = sent_back(Provider::Bedrock, model, &streamed(Provider::Bedrock, &stream.concat()));
    assert!(sent.contains(&format!(r#"{{"role":"assistant","content":{content}}}"#)), "{sent}");
}

#[test]
fn the_plan_of_cohere_and_the_thinking_of_others_are_sent_back() {
    let call = r#"{"id":"c-1","type":"function","function":{"name":"f","arguments":"{\"x\":1.50}"}}"#;
    let cohere = format!(
        r#"{{"id":"1","finish_reason":"TOOL_CALL","message":{{"role":"assistant","tool_plan":"I will look.","tool_calls":[{call}]}}}}"#
    );
    let sent = sent_back(Provider::Cohere, "command-a-03-2025", &whole(Provider::Cohere, &cohere));
    let expected = format!(r#"{{"role":"assistant","tool_plan":"I will look.","tool_calls":[{call}]}}"#);
    assert!(sent.contains(&expected), "{sent}");

    let ollama = r#"{"message":{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"function":{"name":"f","arguments":{"x":1.50}}}]},"done":true}"#;
    let sent = sent_back(Provider::Ollama, "qwen3", &whole(Provider::Ollama, ollama));
    let expected = r#""thinking":"Hm.","tool_calls":[{"id":"call_1","function":{"name":"f","arguments":{"x":1.50}}}]}"#;
    assert!(sent.contains(expected), "{sent}");

    let kimi = format!(
        r#"{{"choices":[{{"message":{{"content":"","reasoning_content":"Hm.","tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let sent = sent_back(Provider::Compatible, "kimi-k2.6", &whole(Provider::Compatible, &kimi));
    assert!(sent.contains(&format!(r#""tool_calls":[{call}],"reasoning_content":"Hm."}}"#)), "{sent}");
}
