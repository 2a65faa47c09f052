//! For each wire format: a stream and a whole response must give the same answer, however the stream is split into chunks.

use proptest::prelude::*;
use reknit_dialogue::{Delta, FinishReason, FormatUsed, ModelAnswer};

use super::*;
use crate::decode_stream;
use crate::sse::SseDecoder;

const CHAT_STREAM: &str = r#"data: {"id":"1","model":"m-2","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

: alive

data: {"id":"1","choices":[{"index":0,"delta":{"reasoning_content":"Hmm, "}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"reasoning_content":"grüße."}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"content":"Moment"}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\": 1"}}]}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":".50}"}}]}}]}

data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}

data: [DONE]

"#;
const CHAT_WHOLE: &str = r#"{"id":"1","model":"m-2","choices":[{"index":0,"message":{"role":"assistant","content":"Moment",
    "reasoning_content":"Hmm, grüße.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1.50}"}}]},
    "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}"#;

const RESPONSES_STREAM: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"1","status":"in_progress","model":"m-2","output":[],"error":null}}

data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}

data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hmm."}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hmm."}],"encrypted_content":"xyz"}}

data: {"type":"response.output_item.added","output_index":1,"item":{"type":"message","role":"assistant","content":[]}}

data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Mom"}

data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"ent"}

data: {"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Moment"}

data: {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"a","name":"f","arguments":""}}

data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"x\": 1"}

data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":".50}"}

data: {"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"x\": 1.50}"}

data: {"type":"response.completed","response":{"id":"1","status":"completed","model":"m-2","output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1}}}}

"#;
const RESPONSES_WHOLE: &str = r#"{"id":"1","status":"completed","error":null,"model":"m-2","output":[
    {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hmm."}],"encrypted_content":"xyz"},
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Moment"}]},
    {"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\": 1.50}"}],
    "usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":3},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1}}}"#;

const ANTHROPIC_STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"1","type":"message","model":"m-2","content":[],"stop_reason":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m."}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"xyz"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"abc"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Mom"}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"ent"}}

data: {"type":"content_block_stop","index":2}

data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1"}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".50}"}}

data: {"type":"content_block_stop","index":3}

data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}

data: {"type":"content_block_stop","index":4}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":4}}

data: {"type":"message_stop"}

"#;
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

const FORMATS: [(Provider, &str, &str); 4] = [
    (Provider::Compatible, CHAT_STREAM, CHAT_WHOLE),
    (Provider::OpenAiResponses, RESPONSES_STREAM, RESPONSES_WHOLE),
    (Provider::Anthropic, ANTHROPIC_STREAM, ANTHROPIC_WHOLE),
    (Provider::Gemini, GEMINI_STREAM, GEMINI_WHOLE),
];

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
    for (provider, stream, body) in FORMATS {
        let answer = whole(provider, body);
        for size in [1, 7, stream.len()] {
            assert_eq!(streamed(provider, stream.as_bytes().chunks(size)).0, answer, "{provider} in chunks of {size}");
        }
        assert_eq!((answer.text.as_str(), answer.model.as_str()), ("Moment", "m-2"));
        assert_eq!(answer.finish, FinishReason::ToolCalls);
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens), (9, 4, 3));
        assert_eq!(answer.tool_calls[0].name, "f");
        assert!(answer.tool_calls[0].arguments.contains("1.50"), "every digit: {:?}", answer.tool_calls);
    }
}

#[test]
fn the_deltas_together_are_the_answer() {
    for (provider, stream, _) in FORMATS {
        let (answer, deltas) = streamed(provider, [stream.as_bytes()]);
        let thoughts: String = answer.reasoning.iter().map(|thought| thought.text.as_str()).collect();
        let calls: String = answer.tool_calls.iter().flat_map(|call| [call.name.as_str(), &call.arguments]).collect();
        assert_eq!(deltas, format!("{thoughts}{}{calls}", answer.text), "{provider}");
    }
}

#[test]
fn an_unreadable_event_is_skipped_and_counted_in_every_format() {
    for (provider, stream, body) in FORMATS {
        let unreadable: &[u8] = b"data: {\"choi\n\ndata: 7\n\n";
        let expected = ModelAnswer { skipped_events: 2, ..whole(provider, body) };
        assert_eq!(streamed(provider, [unreadable, stream.as_bytes()]).0, expected);
    }
}

#[test]
fn an_event_that_is_not_utf8_is_an_error_in_every_format() {
    for (provider, stream, _) in FORMATS {
        let request = ModelRequest::new(vec![], 9);
        let chunks = [&b"data: {\"text\": \"K\xf6ln\"}\n\n"[..], stream.as_bytes()];
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
    ] {
        let result = WireFormat::of(provider).read_event(&mut AnswerBuilder::default(), data.as_bytes(), &mut |_| {});
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
    ] {
        assert_eq!(whole(provider, &body).finish, expected, "{body}");
    }
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
        format in 0..FORMATS.len(),
        changed in 0..20_usize,
        place in 0..30_usize,
        new in prop::sample::select(vec!["null", "7", "-1.5", "\"x\"", "\"\"", "[]", "[{}]", "{}", "true"]),
    ) {
        let (provider, stream, _) = FORMATS[format];
        let (mut wire, mut builder, mut events) = (WireFormat::of(provider), AnswerBuilder::default(), SseDecoder::default());
        events.feed(stream.as_bytes());
        for index in 0.. {
            let Some(data) = events.next() else { break };
            let mut text = String::from_utf8(data).unwrap();
            if let Some(mut json) = Value::parse(&text).ok().filter(|_| index == changed) {
                replace(&mut json, &mut place.clone(), &Value::parse(new).unwrap());
                text = json.to_string();
            }
            // An error and a smaller answer are both fine.
            let _ = wire.read_event(&mut builder, text.as_bytes(), &mut |_| {});
        }
        let _ = builder.build(&ModelRequest::new(vec![], 9), "m", FormatUsed::Text);
    }
}
