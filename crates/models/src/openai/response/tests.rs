use reknit_model_api::{Delta, FormatUsed, Message, ModelAnswer, ModelFailure, ModelRequest, ToolCall, UsageSource};
use serde_json::json;

use super::*;
use crate::Provider;
use crate::wire_format::{ErrorBody, EventOutcome, WireFormat};

fn event(builder: &mut AnswerBuilder, data: &[u8], on_delta: OnDelta<'_>) -> Result<EventOutcome, ErrorBody> {
    WireFormat::of(Provider::Compatible).read_event(builder, std::str::from_utf8(data).unwrap(), on_delta)
}

fn whole(builder: &mut AnswerBuilder, json: &serde_json::Value, on_delta: OnDelta<'_>) -> Result<bool, ErrorBody> {
    WireFormat::of(Provider::Compatible).read_whole(builder, Value::parse(&json.to_string()).unwrap(), on_delta)
}

fn build(builder: AnswerBuilder) -> Result<ModelAnswer, ModelFailure> {
    builder.build(&ModelRequest::new(vec![Message::user("how much?")], 100), "requested", FormatUsed::Text)
}

fn whole_choice(choice: &serde_json::Value) -> Result<ModelAnswer, ModelFailure> {
    let mut builder = AnswerBuilder::default();
    assert_eq!(whole(&mut builder, &json!({"choices": [choice]}), &mut |_| {}), Ok(true));
    build(builder)
}

fn streamed(events: &[&str]) -> (Result<ModelAnswer, ModelFailure>, Vec<String>) {
    let mut builder = AnswerBuilder::default();
    let mut pieces = Vec::new();
    for data in events {
        event(&mut builder, data.as_bytes(), &mut |delta| pieces.push(format!("{delta:?}"))).unwrap();
    }
    (build(builder), pieces)
}

#[test]
fn a_whole_response_gives_an_answer_with_all_its_fields() {
    let mut builder = AnswerBuilder::default();
    let body = json!({
        "id": "chatcmpl-1",
        "model": "m-1-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "46828.5"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    });
    let mut pieces = 0;
    let mut count = |delta: Delta<'_>| pieces += usize::from(delta == Delta::Text("46828.5"));
    assert_eq!(whole(&mut builder, &body, &mut count), Ok(true));
    assert_eq!(pieces, 1);
    let usage = Usage { cached_tokens: 8, reasoning_tokens: 1, ..Usage::reported(12, 3) };
    let expected =
        ModelAnswer { request_id: Some("chatcmpl-1".into()), ..ModelAnswer::complete("46828.5", "m-1-2026", usage) };
    assert_eq!(build(builder).unwrap(), expected);
}

#[test]
fn missing_usage_is_estimated_and_a_missing_model_is_the_requested_one() {
    let answer = whole_choice(&json!({"message": {"content": "12345678"}})).unwrap();
    assert_eq!((answer.model.as_str(), answer.usage.source), ("requested", UsageSource::Estimated));
    assert_eq!(answer.usage.output_tokens, 2);
    assert_eq!(answer.finish, FinishReason::Other("unstated".into()));
}

#[test]
fn text_in_parts_is_concatenated() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "other"}, {"type": "text", "text": "b"}]);
    assert_eq!(whole_choice(&json!({"message": {"content": parts}})).unwrap().text, "ab");
}

#[test]
fn an_answer_without_text_keeps_its_calls_reasoning_or_refusal() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1"}});
    let answer = whole_choice(&json!({"message": {"content": null, "tool_calls": [call]}, "finish_reason": "stop"}));
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("", FinishReason::ToolCalls));
    assert_eq!(answer.tool_calls, [ToolCall::new("1", "f", "{\"a\": 1")]);

    let thinking = json!({"message": {"content": "", "reasoning_content": "hmm"}, "finish_reason": "length"});
    let answer = whole_choice(&thinking).unwrap();
    assert_eq!((answer.reasoning[0].text.as_str(), answer.finish), ("hmm", FinishReason::Length));

    let answer = whole_choice(&json!({"message": {"refusal": "I cannot."}, "finish_reason": "stop"})).unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("I cannot.", FinishReason::Refusal));
}

#[test]
fn an_answer_that_the_server_aborted_is_a_failure() {
    let failure = whole_choice(&json!({"message": {"content": "half"}, "finish_reason": "error"})).unwrap_err();
    let expected = "network error: the server aborted the answer (error) after 4 characters of the answer";
    assert_eq!((failure.to_string().as_str(), failure.partial.as_str()), (expected, "half"));
    assert!(failure.usage.is_some(), "the provider may bill it");
}

#[test]
fn reasoning_is_not_part_of_the_text() {
    for key in ["reasoning_content", "reasoning"] {
        let thought = format!(r#"{{"choices":[{{"delta":{{"{key}":"hmm"}}}}]}}"#);
        let (answer, pieces) = streamed(&[&thought, r#"{"choices":[{"delta":{"content":"yes"}}]}"#, "[DONE]"]);
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.reasoning[0].text.as_str()), ("yes", "hmm"));
        assert_eq!(pieces, [r#"Reasoning("hmm")"#, r#"Text("yes")"#]);
    }
}

#[test]
fn tool_calls_are_assembled_from_pieces_with_and_without_indexes() {
    let delta = |calls: &serde_json::Value| json!({"choices": [{"delta": {"tool_calls": calls}}]}).to_string();
    let first = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}});
    let second = json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}});
    let more = |index: u64, text: &str| json!({"index": index, "function": {"arguments": text}});
    let unmarked = json!({"function": {"name": "f", "arguments": "{\"x\""}});
    let rest = json!({"function": {"arguments": ":1}"}});
    let same_index = json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": {"y": 2}}});
    for (events, expected) in [
        (
            vec![json!([first]), json!([more(0, "{\"x\"")]), json!([second]), json!([more(0, ":1}")])],
            [("a", "f", "{\"x\":1}"), ("b", "g", "{}")],
        ),
        (vec![json!([first, second]), json!([more(0, "{}")])], [("a", "f", "{}"), ("b", "g", "{}")]),
        (
            vec![json!([unmarked]), json!([rest]), json!([unmarked]), json!([rest])],
            [("call_1", "f", "{\"x\":1}"), ("call_2", "f", "{\"x\":1}")],
        ),
        (
            vec![json!([first]), json!([more(0, "{}")]), json!([same_index])],
            [("a", "f", "{}"), ("b", "g", "{\"y\":2}")],
        ),
    ] {
        let events: Vec<String> = events.iter().map(delta).chain(["[DONE]".to_owned()]).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let answer = streamed(&events).0.unwrap();
        assert_eq!(answer.tool_calls, expected.map(|(id, name, arguments)| ToolCall::new(id, name, arguments)));
    }
}

#[test]
fn only_a_finish_reason_or_the_end_mark_ends_a_stream() {
    let mut builder = AnswerBuilder::default();
    for (data, ended) in [
        (r#"{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":null}"#, false),
        (r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#, false),
        (r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, true),
    ] {
        event(&mut builder, data.as_bytes(), &mut |_| {}).unwrap();
        assert_eq!(builder.is_ended(), ended);
    }
}

#[test]
fn a_second_choice_is_not_mixed_into_the_first() {
    let other = r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#;
    let one = r#"{"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]}"#;
    assert_eq!(streamed(&[other, one]).0.unwrap().text, "one");
}
