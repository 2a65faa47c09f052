//! For each wire format: a stream and a whole response must give the same answer, however the stream is split into chunks.

use proptest::prelude::*;
use reknit_model_api::{Delta, FinishReason, FormatUsed, ModelAnswer};

use super::*;
use crate::decode_stream;
use crate::event_decoder::frames::tests::event;

/// A stream of server-sent events: one for each line with JSON. Other lines, such as comments and names of events, stay as they are.
pub(super) fn sse(lines: &str) -> Vec<u8> {
    let is_data = |line: &str| line.starts_with(['{', '[']);
    lines
        .lines()
        .map(|line| if is_data(line) { format!("data: {line}\n\n") } else { format!("{line}\n") })
        .collect::<String>()
        .into()
}

const CHAT_STREAM: &str = r#"{"id":"1","model":"m-2","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
: alive
{"id":"1","choices":[{"index":0,"delta":{"reasoning_content":"Hmm, "}}]}
{"id":"1","choices":[{"index":0,"delta":{"reasoning_content":"grüße."}}]}
{"id":"1","choices":[{"index":0,"delta":{"content":"Moment"}}]}
{"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}]}
{"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\": 1"}}]}}]}
{"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":".50}"}}]}}]}
{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
{"id":"1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}
[DONE]"#;
const CHAT_WHOLE: &str = r#"{"id":"1","model":"m-2","choices":[{"index":0,"message":{"role":"assistant","content":"Moment",
    "reasoning_content":"Hmm, grüße.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1.50}"}}]},
    "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}"#;

const RESPONSES_STREAM: &str = r#"event: response.created
{"type":"response.created","response":{"id":"1","status":"in_progress","model":"m-2","output":[],"error":null}}
{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}
{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hmm."}
{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hmm."}],"encrypted_content":"xyz"}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"message","role":"assistant","content":[]}}
{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Mom"}
{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"ent"}
{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Moment"}
{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"a","name":"f","arguments":""}}
{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"x\": 1"}
{"type":"response.function_call_arguments.delta","output_index":2,"delta":".50}"}
{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"x\": 1.50}"}
{"type":"response.completed","response":{"id":"1","status":"completed","model":"m-2","output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1}}}}"#;
const RESPONSES_WHOLE: &str = r#"{"id":"1","status":"completed","error":null,"model":"m-2","output":[
    {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hmm."}],"encrypted_content":"xyz"},
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Moment"}]},
    {"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\": 1.50}"}],
    "usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1}}}"#;

const ANTHROPIC_STREAM: &str = r#"event: message_start
{"type":"message_start","message":{"id":"1","type":"message","model":"m-2","content":[],"stop_reason":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}
event: content_block_start
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
event: ping
{"type":"ping"}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m."}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"xyz"}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"abc"}}
{"type":"content_block_stop","index":1}
{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Mom"}}
{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"ent"}}
{"type":"content_block_stop","index":2}
{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}
{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}
{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1"}}
{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".50}"}}
{"type":"content_block_stop","index":3}
{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}
{"type":"content_block_stop","index":4}
{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":4}}
{"type":"message_stop"}"#;
const ANTHROPIC_WHOLE: &str = r#"{"id":"1","type":"message","role":"assistant","model":"m-2","content":[
    {"type":"thinking","thinking":"Hmm.","signature":"xyz"},{"type":"redacted_thinking","data":"abc"},
    {"type":"text","text":"Moment"},{"type":"tool_use","id":"a","name":"f","input":{"x": 1.50}},
    {"type":"tool_use","id":"b","name":"g","input":{}}],"stop_reason":"tool_use",
    "usage":{"input_tokens":4,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4}}"#;

const GEMINI_STREAM: &str = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hm\",\"thought\":true}]}}],\"modelVersion\":\"m-2\",\"responseId\":\"1\"}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"m.\",\"thought\":true},{\"text\":\"Mom\"}]}}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":1}}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"ent\"},{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1.50}},\"thoughtSignature\":\"xyz\"}]}}]}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\"}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,\"cachedContentTokenCount\":3,\"candidatesTokenCount\":3,\"thoughtsTokenCount\":1}}\r\n\r\n";
const GEMINI_WHOLE: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hmm.","thought":true},{"text":"Moment"},
    {"functionCall":{"name":"f","args":{"x":1.50}},"thoughtSignature":"xyz"},{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}],
    "usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":3,"candidatesTokenCount":3,"thoughtsTokenCount":1},
    "modelVersion":"m-2","responseId":"1"}"#;

const OLLAMA_STREAM: &str = r#"{"model":"m-2","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}
{"model":"m-2","message":{"role":"assistant","content":"","thinking":"m."},"done":false}
{"model":"m-2","message":{"role":"assistant","content":"Mom"},"done":false}
{"model":"m-2","message":{"role":"assistant","content":"ent","tool_calls":[{"function":{"name":"f","arguments":{"x":1.50}}}]},"done":false}
{"model":"m-2","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}
"#;
const OLLAMA_WHOLE: &str = r#"{"model":"m-2","message":{"role":"assistant","content":"Moment","thinking":"Hmm.",
    "tool_calls":[{"function":{"name":"f","arguments":{"x":1.50}}}]},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}"#;

const COHERE_STREAM: &str = r#"event: message-start
{"type":"message-start","id":"1","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}
{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}
{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"Hmm."}}}}
{"type":"content-end","index":0}
{"type":"content-start","index":1,"delta":{"message":{"content":{"type":"text","text":""}}}}
{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"Mom"}}}}
{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"ent"}}}}
{"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":0,"end":3,"text":"Mom","sources":[{"type":"document","id":"doc:1","document":{"title":"T","url":"https://x/y"}}]}}}}
{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I will "}}}
{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"look."}}}
{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"a","type":"function","function":{"name":"f","arguments":""}}}}}
{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\"x\": 1"}}}}}
{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":".50}"}}}}}
{"type":"tool-call-end","index":0}
{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":5,"output_tokens":2},"tokens":{"input_tokens":9,"output_tokens":4},"cached_tokens":3}}}
[DONE]"#;
const COHERE_WHOLE: &str = r#"{"id":"1","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_plan":"I will look.",
    "content":[{"type":"thinking","thinking":"Hmm."},{"type":"text","text":"Moment"}],
    "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1.50}"}}],
    "citations":[{"start":0,"end":3,"text":"Mom","sources":[{"type":"document","id":"doc:1","document":{"title":"T","url":"https://x/y"}}]}]},
    "usage":{"billed_units":{"input_tokens":5,"output_tokens":2},"tokens":{"input_tokens":9,"output_tokens":4},"cached_tokens":3}}"#;

fn bedrock_stream() -> Vec<u8> {
    [
        event("messageStart", r#"{"role":"assistant"}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hmm."}}}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"xyz"}}}"#),
        event("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"text":"Mom"}}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"text":"ent"}}"#),
        event("contentBlockStop", r#"{"contentBlockIndex":1}"#),
        event("contentBlockStart", r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"x\":1"}}}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":".50}"}}}"#),
        event("contentBlockStop", r#"{"contentBlockIndex":2}"#),
        event("contentBlockStart", r#"{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"b","name":"g"}}}"#),
        event("contentBlockStop", r#"{"contentBlockIndex":3}"#),
        event("messageStop", r#"{"stopReason":"tool_use"}"#),
        event(
            "metadata",
            r#"{"usage":{"inputTokens":4,"outputTokens":4,"totalTokens":13,"cacheReadInputTokens":3,"cacheWriteInputTokens":2},"metrics":{"latencyMs":1}}"#,
        ),
    ]
    .concat()
}
const BEDROCK_WHOLE: &str = r#"{"output":{"message":{"role":"assistant","content":[
    {"reasoningContent":{"reasoningText":{"text":"Hmm.","signature":"xyz"}}},{"text":"Moment"},
    {"toolUse":{"toolUseId":"a","name":"f","input":{"x":1.50}}},{"toolUse":{"toolUseId":"b","name":"g","input":{}}}]}},
    "stopReason":"tool_use","usage":{"inputTokens":4,"outputTokens":4,"totalTokens":13,"cacheReadInputTokens":3,"cacheWriteInputTokens":2}}"#;

/// A stream and a whole response with the same answer, in each format.
fn formats() -> Vec<(Provider, Vec<u8>, &'static str)> {
    let text = |stream: &str| stream.as_bytes().to_vec();
    vec![
        (Provider::Compatible, sse(CHAT_STREAM), CHAT_WHOLE),
        (Provider::OpenAiResponses, sse(RESPONSES_STREAM), RESPONSES_WHOLE),
        (Provider::Anthropic, sse(ANTHROPIC_STREAM), ANTHROPIC_WHOLE),
        (Provider::VertexAnthropic, sse(ANTHROPIC_STREAM), ANTHROPIC_WHOLE),
        (Provider::Gemini, text(GEMINI_STREAM), GEMINI_WHOLE),
        (Provider::Vertex, text(GEMINI_STREAM), GEMINI_WHOLE),
        (Provider::Ollama, text(OLLAMA_STREAM), OLLAMA_WHOLE),
        (Provider::Cohere, sse(COHERE_STREAM), COHERE_WHOLE),
        (Provider::Bedrock, bedrock_stream(), BEDROCK_WHOLE),
    ]
}

/// The formats whose streams are server-sent events.
fn event_formats() -> Vec<(Provider, Vec<u8>, &'static str)> {
    formats().into_iter().filter(|(provider, ..)| !matches!(provider, Provider::Ollama | Provider::Bedrock)).collect()
}

fn whole(provider: Provider, body: &str) -> ModelAnswer {
    let mut builder = AnswerBuilder::default();
    let has_answer = WireFormat::of(provider).read_whole(&mut builder, Value::parse(body).unwrap(), &mut |_| {});
    assert_eq!(has_answer, Ok(true));
    builder.build(&ModelRequest::new(vec![], 9), "requested", FormatUsed::Text).unwrap()
}

/// The answer of a stream in chunks, and the concatenated deltas.
fn streamed<'a>(provider: Provider, chunks: impl IntoIterator<Item = &'a [u8]>) -> (ModelAnswer, String) {
    let mut deltas = String::new();
    let mut on_delta = |delta: Delta<'_>| match delta {
        Delta::Text(text) | Delta::Reasoning(text) => deltas.push_str(text),
        Delta::ToolCall { name, arguments, .. } => {
            deltas.push_str(name.unwrap_or_default());
            deltas.push_str(arguments);
        }
    };
    let answer = decode_stream(provider, &ModelRequest::new(vec![], 9), chunks, &mut on_delta).unwrap();
    (answer, deltas)
}

#[test]
fn a_streamed_answer_equals_the_whole_one() {
    for (provider, stream, body) in formats() {
        // The model's name differs where the format has none: the one that was asked for.
        let answer = whole(provider, body);
        let model = if matches!(provider, Provider::Cohere | Provider::Bedrock) { "" } else { "m-2" };
        let answer = ModelAnswer { model: model.to_owned(), ..answer };
        for size in [1, 7, stream.len()] {
            assert_eq!(streamed(provider, stream.chunks(size)).0, answer, "{provider} in chunks of {size}");
        }
        assert_eq!(answer.text, "Moment");
        assert_eq!(answer.finish, FinishReason::ToolCalls);
        let cached = if provider == Provider::Ollama { 0 } else { 3 };
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens), (9, 4, cached));
        assert_eq!(answer.tool_calls[0].name, "f");
        assert!(answer.tool_calls[0].arguments.contains("1.50"), "every digit: {:?}", answer.tool_calls);
    }
}

#[test]
fn calls_with_the_same_id_get_ids_of_their_own() {
    let chat = r#"{"model":"m-2","choices":[{"message":{"content":"","tool_calls":[
        {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
        {"id":"call_1","type":"function","function":{"name":"g","arguments":"{}"}},
        {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":2}"}},
        {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":3}"}}]},"finish_reason":"tool_calls"}]}"#;
    let answer = whole(Provider::Compatible, chat);
    let ids: Vec<&str> = answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["a", "call_1", "call_2", "call_3"], "the first call keeps the id, and no generated id is in use");
    for (provider, body) in [
        (
            Provider::Anthropic,
            r#"{"content":[{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"a","name":"f","input":{"x":2}}],"stop_reason":"tool_use"}"#,
        ),
        (
            Provider::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"f","args":{"x":1}}},{"functionCall":{"id":"a","name":"f","args":{"x":2}}}]},"finishReason":"STOP"}]}"#,
        ),
        (
            Provider::OpenAiResponses,
            r#"{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"},{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":2}"}]}"#,
        ),
        (
            Provider::Bedrock,
            r#"{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{"x":1}}},{"toolUse":{"toolUseId":"a","name":"f","input":{"x":2}}}]}},"stopReason":"tool_use"}"#,
        ),
    ] {
        let answer = whole(provider, body);
        let calls: Vec<(&str, &str)> =
            answer.tool_calls.iter().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
        assert_eq!(calls, [("a", r#"{"x":1}"#), ("call_1", r#"{"x":2}"#)], "{provider}");
    }
}

#[test]
fn the_deltas_together_are_the_answer() {
    for (provider, stream, _) in formats() {
        let (answer, deltas) = streamed(provider, [&stream[..]]);
        let thoughts: String = answer.reasoning.iter().map(|thought| thought.text.as_str()).collect();
        let calls: String = answer.tool_calls.iter().flat_map(|call| [call.name.as_str(), &call.arguments]).collect();
        if provider == Provider::Cohere {
            // The plan of the calls comes after the text.
            assert_eq!(deltas, format!("Hmm.{}I will look.{calls}", answer.text));
            continue;
        }
        assert_eq!(deltas, format!("{thoughts}{}{calls}", answer.text), "{provider}");
    }
}

#[test]
fn an_unreadable_event_is_skipped_and_counted_in_every_format() {
    for (provider, stream, body) in event_formats() {
        let unreadable: &[u8] = b"data: {\"choi\n\ndata: 7\n\n";
        let answer = streamed(provider, [unreadable, &stream]).0;
        assert_eq!((answer.skipped_events, answer.text), (2, whole(provider, body).text));
    }
    let lines = [b"{\"mess\n7\n", OLLAMA_STREAM.as_bytes()];
    assert_eq!(streamed(Provider::Ollama, lines).0.skipped_events, 2);
}

#[test]
fn an_event_that_is_not_utf8_is_an_error_in_every_format() {
    for (provider, stream, _) in event_formats() {
        let request = ModelRequest::new(vec![], 9);
        let chunks = [&b"data: {\"text\": \"K\xf6ln\"}\n\n"[..], &stream];
        let error = decode_stream(provider, &request, chunks, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("is not valid UTF-8"), "{error}");
    }
}

#[test]
fn provider_states_keep_the_format_they_belong_to() {
    let states = |provider, body| {
        let answer = whole(provider, body);
        let thoughts = answer.reasoning.into_iter().map(|thought| thought.provider_state);
        let states = thoughts.chain(answer.tool_calls.into_iter().map(|call| call.provider_state)).flatten();
        states.map(|state| format!("{}: {}", state.format, state.text)).collect::<Vec<_>>()
    };
    assert_eq!(states(Provider::Anthropic, ANTHROPIC_WHOLE), ["anthropic: xyz", "anthropic-hidden: abc"]);
    assert_eq!(states(Provider::Gemini, GEMINI_WHOLE), ["gemini: xyz"]);
    assert!(states(Provider::OpenAiResponses, RESPONSES_WHOLE)[0].starts_with("openai-responses: {"));
    assert_eq!(states(Provider::Bedrock, BEDROCK_WHOLE), ["bedrock: xyz"]);
    assert_eq!(states(Provider::Cohere, COHERE_WHOLE), ["cohere-plan: "]);
}

#[test]
fn an_error_in_an_event_is_recognised_in_every_format() {
    for (provider, data) in [
        (Provider::Compatible, r#"{"error":{"message":"no"}}"#),
        (Provider::OpenAiResponses, r#"{"type":"error","code":"server_error","message":"no"}"#),
        (
            Provider::OpenAiResponses,
            r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"no"}}}"#,
        ),
        (Provider::Anthropic, r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#),
        (Provider::Gemini, r#"{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}"#),
        (Provider::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#),
        (Provider::Ollama, r#"{"error":"model 'x' not found"}"#),
        (Provider::Cohere, r#"{"type":"message-end","delta":{"error":"no","finish_reason":"ERROR"}}"#),
        (Provider::Bedrock, r#"{"error":{"type":"throttlingException","message":"no"}}"#),
    ] {
        let result = WireFormat::of(provider).read_event(&mut AnswerBuilder::default(), data, &mut |_| {});
        assert!(result.is_err(), "{data}");
    }
}

#[test]
fn every_finish_reason_has_its_variant() {
    let chat = |reason: &str| format!(r#"{{"choices":[{{"message":{{"content":"x"}},"finish_reason":"{reason}"}}]}}"#);
    let anthropic = |reason: &str| ANTHROPIC_WHOLE.replace("\"tool_use\",\n", &format!("\"{reason}\",\n"));
    let gemini = |reason: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}]}},"finishReason":"{reason}"}}]}}"#)
    };
    let other = |reason: &str| FinishReason::Other(reason.into());
    let responses =
        |reason: &str| format!(r#"{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}},"output":[]}}"#);
    for (provider, body, expected) in [
        (Provider::Compatible, chat("stop"), FinishReason::Complete),
        (Provider::Compatible, chat("length"), FinishReason::Length),
        (Provider::Compatible, chat("content_filter"), FinishReason::ContentFilter),
        (Provider::Compatible, chat("tool_calls"), FinishReason::ToolCalls),
        (Provider::Compatible, chat("function_call"), FinishReason::ToolCalls),
        (Provider::Compatible, chat("eos"), FinishReason::Other("eos".into())),
        (Provider::Anthropic, anthropic("max_tokens"), FinishReason::Length),
        (Provider::Anthropic, anthropic("refusal"), FinishReason::Refusal),
        (Provider::Anthropic, anthropic("pause_turn"), FinishReason::Other("pause_turn".into())),
        (Provider::Gemini, gemini("STOP"), FinishReason::Complete),
        (Provider::Gemini, gemini("MAX_TOKENS"), FinishReason::Length),
        (Provider::Gemini, gemini("SAFETY"), FinishReason::ContentFilter),
        (Provider::Gemini, gemini("RECITATION"), FinishReason::ContentFilter),
        (Provider::Gemini, gemini("MALFORMED_FUNCTION_CALL"), FinishReason::Other("malformed_function_call".into())),
        (Provider::OpenAiResponses, responses("max_output_tokens"), FinishReason::Length),
        (Provider::OpenAiResponses, responses("content_filter"), FinishReason::ContentFilter),
        (
            Provider::Ollama,
            r#"{"message":{"content":"x"},"done":true,"done_reason":"length"}"#.into(),
            FinishReason::Length,
        ),
        (Provider::Ollama, r#"{"message":{"content":"x"},"done":true,"done_reason":"load"}"#.into(), other("load")),
        (Provider::Cohere, COHERE_WHOLE.replace("TOOL_CALL", "MAX_TOKENS"), FinishReason::Length),
        (Provider::Cohere, COHERE_WHOLE.replace("TOOL_CALL", "NEW"), other("new")),
        (Provider::Bedrock, BEDROCK_WHOLE.replace("tool_use", "max_tokens"), FinishReason::Length),
        (Provider::Bedrock, BEDROCK_WHOLE.replace("tool_use", "guardrail_intervened"), FinishReason::ContentFilter),
        (Provider::Bedrock, BEDROCK_WHOLE.replace("tool_use", "new"), other("new")),
    ] {
        assert_eq!(whole(provider, &body).finish, expected, "{body}");
    }
}

#[test]
fn a_tool_that_the_provider_runs_itself_is_not_a_call() {
    let stream = sse(
        r#"{"type":"message_start","message":{"id":"1","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"found"}}
{"type":"content_block_stop","index":1}
{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}
{"type":"message_stop"}"#,
    );
    let (answer, _) = streamed(Provider::Anthropic, [&stream[..]]);
    assert_eq!((answer.text.as_str(), answer.tool_calls.len()), ("found", 0));
}

#[test]
fn a_generated_call_id_occurs_in_no_earlier_turn() {
    let mut request = ModelRequest::new(vec![reknit_model_api::Message::user("?")], 9);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let answer = decode_stream(Provider::Gemini, &request, [GEMINI_STREAM.as_bytes()], &mut |_| {}).unwrap();
        for call in &answer.tool_calls {
            assert!(seen.insert(call.id.clone()), "{} occurs twice", call.id);
            request.messages.push(reknit_model_api::Message::tool_result(call, "1"));
        }
        request.messages.insert(1, reknit_model_api::Message::from(&answer));
    }
    assert_eq!(seen.len(), 6);
}

#[test]
fn an_answer_keeps_its_sources_its_cost_and_its_stop_sequence() {
    let citation = |url: &str, title: &str, text: Option<&str>| reknit_model_api::Citation {
        url: Some(url.to_owned()),
        title: Some(title.to_owned()),
        text: text.map(str::to_owned),
    };
    let chat = r#"{"choices":[{"message":{"content":"x","annotations":[{"type":"url_citation","url_citation":{"url":"https://a","title":"A","start_index":0,"end_index":1}}]},
        "finish_reason":"stop","stop_reason":"END"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"reasoning_tokens":3,"total_tokens":6,"cost":0.00014}}"#;
    let answer = whole(Provider::Compatible, chat);
    assert_eq!(answer.citations, [citation("https://a", "A", None)]);
    assert_eq!(
        (answer.stop_sequence.as_deref(), answer.reported_cost.unwrap().to_string()),
        (Some("END"), "0.00014".into())
    );
    // This server counts reasoning apart.
    assert_eq!((answer.usage.output_tokens, answer.usage.reasoning_tokens), (5, 3));
    let ticks = chat.replace(r#""cost":0.00014"#, r#""cost_in_usd_ticks":37756000"#);
    assert_eq!(whole(Provider::Compatible, &ticks).reported_cost.unwrap().to_string(), "0.0037756");
    let listed =
        r#"{"choices":[{"message":{"content":"x"}}],"citations":["https://a"],"usage":{"cost":{"total_cost":0.5}}}"#;
    let answer = whole(Provider::Compatible, listed);
    assert_eq!(
        (answer.citations[0].url.as_deref(), answer.reported_cost.unwrap().to_string()),
        (Some("https://a"), "0.5".into())
    );

    let anthropic = r#"{"content":[{"type":"text","text":"x","citations":[{"type":"char_location","cited_text":"q","document_title":"T"}]}],
        "stop_reason":"stop_sequence","stop_sequence":"END","usage":{"input_tokens":1,"output_tokens":9,"output_tokens_details":{"thinking_tokens":7}}}"#;
    let answer = whole(Provider::Anthropic, anthropic);
    assert_eq!((answer.citations[0].title.as_deref(), answer.citations[0].text.as_deref()), (Some("T"), Some("q")));
    assert_eq!((answer.stop_sequence.as_deref(), answer.usage.reasoning_tokens), (Some("END"), 7));

    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP",
        "groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a","title":"A"}},{"web":{"uri":"https://a","title":"A"}}]}}]}"#;
    assert_eq!(whole(Provider::Gemini, gemini).citations, [citation("https://a", "A", None)]);

    let responses = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x","annotations":[{"type":"url_citation","url":"https://a","title":"A"}]}]}]}"#;
    assert_eq!(whole(Provider::OpenAiResponses, responses).citations, [citation("https://a", "A", None)]);
    assert_eq!(whole(Provider::Cohere, COHERE_WHOLE).citations, [citation("https://x/y", "T", Some("Mom"))]);
}

/// Replaces the n-th value in a depth-first walk.
fn replace(value: &mut Value, left: &mut usize, new: &Value) {
    if *left == 0 {
        *value = new.clone();
    }
    *left = left.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, left, new)),
        Value::Object(members) => members.iter_mut().for_each(|(_, member)| replace(member, left, new)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn an_event_with_a_value_of_another_type_never_panics(
        format in 0..9_usize,
        changed in 0..20_usize,
        place in 0..30_usize,
        new in prop::sample::select(vec!["null", "7", "-1.5", "\"x\"", "\"\"", "[]", "[{}]", "{}", "true"]),
    ) {
        let (provider, stream, _) = formats().swap_remove(format);
        let (mut wire, mut builder) = (WireFormat::of(provider), AnswerBuilder::default());
        let mut events = wire.event_decoder();
        events.feed(Some(&stream));
        for index in 0.. {
            let Some(data) = events.next() else { break };
            let mut text = String::from_utf8(data).unwrap();
            if let Some(mut json) = Value::parse(&text).ok().filter(|_| index == changed) {
                replace(&mut json, &mut place.clone(), &Value::parse(new).unwrap());
                text = json.to_string();
            }
            // An error and a smaller answer are both fine.
            let _ = wire.read_event(&mut builder, &text, &mut |_| {});
        }
        let _ = builder.build(&ModelRequest::new(vec![], 9), "m", FormatUsed::Text);
    }
}
