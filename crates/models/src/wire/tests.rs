//! For each wire format: an answer as a stream and in one piece, which must be the same however the stream is torn apart.

use proptest::prelude::*;
use reknit_dialogue::{Answer, Delta, FormatUsed};

use super::*;
use crate::sse::Events;

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

fn conclude(draft: Draft) -> Answer {
    draft.conclude(&Request::new(vec![], 9), "asked-for", FormatUsed::Text).unwrap()
}

fn whole(provider: Provider, body: &str) -> Answer {
    let mut draft = Draft::default();
    let taken = Wire::of(provider).whole(&mut draft, Value::parse(body).unwrap(), &mut |_| {});
    assert_eq!(taken, Ok(true));
    conclude(draft)
}

/// The answer of a stream in pieces, and the words that were shown.
fn streamed<'a>(provider: Provider, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Answer, String) {
    let (mut wire, mut draft, mut events) = (Wire::of(provider), Draft::default(), Events::default());
    let mut shown = String::new();
    let mut show = |delta: Delta<'_>| match delta {
        Delta::Text(text) | Delta::Reasoning(text) => shown.push_str(text),
        Delta::ToolCall { name, arguments, .. } => {
            shown.push_str(name.unwrap_or_default());
            shown.push_str(arguments);
        }
    };
    for piece in pieces {
        events.feed(piece);
        while let Some(data) = events.next() {
            wire.event(&mut draft, &data, &mut show).unwrap();
        }
    }
    events.end();
    assert!(draft.is_ended());
    (conclude(draft), shown)
}

#[test]
fn a_streamed_answer_is_the_answer_in_one_piece() {
    for (provider, stream, body) in FORMATS {
        let answer = whole(provider, body);
        assert_eq!(streamed(provider, [stream.as_bytes()]).0, answer, "{provider}");
        assert_eq!((answer.text.as_str(), answer.model.as_str()), ("Moment", "m-2"));
        assert_eq!(answer.finish, reknit_dialogue::Finish::ToolCalls);
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens), (9, 4, 3));
        assert_eq!(answer.tool_calls[0].name, "f");
        assert!(answer.tool_calls[0].arguments.contains("1.50"), "every digit: {:?}", answer.tool_calls);
    }
}

#[test]
fn what_is_shown_on_the_way_is_what_the_answer_has() {
    for (provider, stream, _) in FORMATS {
        let (answer, shown) = streamed(provider, [stream.as_bytes()]);
        let thoughts: String = answer.reasoning.iter().map(|thought| thought.text.as_str()).collect();
        let calls: String = answer.tool_calls.iter().flat_map(|call| [call.name.as_str(), &call.arguments]).collect();
        assert_eq!(shown, format!("{thoughts}{}{calls}", answer.text), "{provider}");
    }
}

#[test]
fn a_malformed_event_is_skipped_and_counted_in_every_format() {
    for (provider, stream, body) in FORMATS {
        let broken = format!("data: {{\"choi\n\n{stream}");
        let expected = Answer { skipped_events: 1, ..whole(provider, body) };
        assert_eq!(streamed(provider, [broken.as_bytes()]).0, expected);
    }
}

#[test]
fn seals_are_kept_with_the_format_they_belong_to() {
    let seals = |provider, body| {
        let answer = whole(provider, body);
        let thoughts = answer.reasoning.into_iter().map(|thought| thought.seal);
        let seals = thoughts.chain(answer.tool_calls.into_iter().map(|call| call.seal)).flatten();
        seals.map(|seal| format!("{}: {}", seal.format, seal.text)).collect::<Vec<_>>()
    };
    assert_eq!(seals(Provider::Anthropic, ANTHROPIC_WHOLE), ["anthropic: xyz", "anthropic-hidden: abc"]);
    assert_eq!(seals(Provider::Gemini, GEMINI_WHOLE), ["gemini: xyz"]);
    assert!(seals(Provider::OpenAiResponses, RESPONSES_WHOLE)[0].starts_with("openai-responses: {"));
}

#[test]
fn an_error_in_the_place_of_an_answer_or_inside_a_stream_is_an_error() {
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
        let refused = Wire::of(provider).event(&mut Draft::default(), data.as_bytes(), &mut |_| {});
        assert!(refused.is_err(), "{data}");
    }
}

#[test]
fn every_reason_to_end_has_its_case() {
    use reknit_dialogue::Finish;
    let anthropic = |reason: &str| ANTHROPIC_WHOLE.replace("\"tool_use\",\n", &format!("\"{reason}\",\n"));
    let gemini = |reason: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}]}},"finishReason":"{reason}"}}]}}"#)
    };
    let responses =
        |reason: &str| format!(r#"{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}},"output":[]}}"#);
    for (provider, body, expected) in [
        (Provider::Anthropic, anthropic("max_tokens"), Finish::Length),
        (Provider::Anthropic, anthropic("refusal"), Finish::Refusal),
        (Provider::Anthropic, anthropic("pause_turn"), Finish::Other("pause_turn".into())),
        (Provider::Gemini, gemini("STOP"), Finish::Complete),
        (Provider::Gemini, gemini("MAX_TOKENS"), Finish::Length),
        (Provider::Gemini, gemini("SAFETY"), Finish::ContentFilter),
        (Provider::Gemini, gemini("RECITATION"), Finish::ContentFilter),
        (Provider::Gemini, gemini("MALFORMED_FUNCTION_CALL"), Finish::Other("malformed_function_call".into())),
        (Provider::OpenAiResponses, responses("max_output_tokens"), Finish::Length),
        (Provider::OpenAiResponses, responses("content_filter"), Finish::ContentFilter),
    ] {
        assert_eq!(whole(provider, &body).finish, expected, "{body}");
    }
}

/// Puts another value in the place of the n-th one, counted from the outside in.
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
    fn an_event_of_another_shape_breaks_nothing(
        format in 0..FORMATS.len(),
        changed in 0..20_usize,
        place in 0..30_usize,
        new in prop::sample::select(vec!["null", "7", "-1.5", "\"x\"", "\"\"", "[]", "[{}]", "{}", "true"]),
    ) {
        let (provider, stream, _) = FORMATS[format];
        let (mut wire, mut draft, mut events) = (Wire::of(provider), Draft::default(), Events::default());
        events.feed(stream.as_bytes());
        for index in 0.. {
            let Some(data) = events.next() else { break };
            let mut text = String::from_utf8(data).unwrap();
            if let Some(mut json) = Value::parse(&text).ok().filter(|_| index == changed) {
                replace(&mut json, &mut place.clone(), &Value::parse(new).unwrap());
                text = json.to_string();
            }
            // Both are fine: it says no, or it says less.
            let _ = wire.event(&mut draft, text.as_bytes(), &mut |_| {});
        }
        let _ = draft.conclude(&Request::new(vec![], 9), "m", FormatUsed::Text);
    }

    #[test]
    fn the_pieces_of_a_stream_do_not_matter(
        format in 0..FORMATS.len(),
        cuts in prop::collection::vec(0..4_000_usize, 0..30),
    ) {
        let (provider, stream, body) = FORMATS[format];
        let bytes = stream.as_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(streamed(provider, pieces).0, whole(provider, body));
    }
}
