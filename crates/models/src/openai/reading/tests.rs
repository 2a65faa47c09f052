use reknit_dialogue::{Answer, Delta, Failure, FormatUsed, Message, Request, ToolCall, UsageSource};
use serde_json::json;

use super::*;
use crate::Provider;
use crate::wire::Wire;

fn event(draft: &mut Draft, data: &[u8], on_delta: OnDelta<'_>) -> Result<Seen, Refused> {
    Wire::of(Provider::Compatible).event(draft, data, on_delta)
}

fn whole(draft: &mut Draft, json: &serde_json::Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
    Wire::of(Provider::Compatible).whole(draft, Value::parse(&json.to_string()).unwrap(), on_delta)
}

fn conclude(draft: Draft) -> Result<Answer, Failure> {
    draft.conclude(&Request::new(vec![Message::user("how much?")], 100), "asked-for", FormatUsed::Text)
}

/// The answer in one piece with these members in its only choice.
fn whole_choice(choice: &serde_json::Value) -> Result<Answer, Failure> {
    let mut draft = Draft::default();
    assert_eq!(whole(&mut draft, &json!({"choices": [choice]}), &mut |_| {}), Ok(true));
    conclude(draft)
}

/// The answer of a stream of events, and the pieces that were shown.
fn streamed(events: &[&str]) -> (Result<Answer, Failure>, Vec<String>) {
    let mut draft = Draft::default();
    let mut pieces = Vec::new();
    for data in events {
        event(&mut draft, data.as_bytes(), &mut |delta| pieces.push(format!("{delta:?}"))).unwrap();
    }
    (conclude(draft), pieces)
}

#[test]
fn a_whole_answer_has_everything_the_server_says() {
    let mut draft = Draft::default();
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
    assert_eq!(whole(&mut draft, &body, &mut count), Ok(true));
    assert_eq!(pieces, 1);
    let usage = Usage { cached_tokens: 8, reasoning_tokens: 1, ..Usage::reported(12, 3) };
    let expected = Answer { request_id: Some("chatcmpl-1".into()), ..Answer::complete("46828.5", "m-1-2026", usage) };
    assert_eq!(conclude(draft).unwrap(), expected);
}

#[test]
fn what_the_server_does_not_say_is_estimated_or_what_was_asked_for() {
    let answer = whole_choice(&json!({"message": {"content": "12345678"}})).unwrap();
    assert_eq!((answer.model.as_str(), answer.usage.source), ("asked-for", UsageSource::Estimated));
    assert_eq!(answer.usage.output_tokens, 2);
    assert_eq!(answer.finish, Finish::Other("unstated".into()));
}

#[test]
fn text_in_parts_is_text() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "other"}, {"type": "text", "text": "b"}]);
    assert_eq!(whole_choice(&json!({"message": {"content": parts}})).unwrap().text, "ab");
}

#[test]
fn each_finish_reason_has_its_case() {
    for (reason, expected) in [
        ("stop", Finish::Complete),
        ("length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("tool_calls", Finish::ToolCalls),
        ("function_call", Finish::ToolCalls),
        ("eos", Finish::Other("eos".into())),
    ] {
        let answer = whole_choice(&json!({"message": {"content": "x"}, "finish_reason": reason})).unwrap();
        assert_eq!(answer.finish, expected);
    }
}

#[test]
fn an_answer_without_text_is_an_answer_and_says_what_there_is() {
    let call = json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1"}});
    let answer = whole_choice(&json!({"message": {"content": null, "tool_calls": [call]}, "finish_reason": "stop"}));
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("", Finish::ToolCalls));
    assert_eq!(answer.tool_calls, [ToolCall::new("1", "f", "{\"a\": 1")]);

    let thinking = json!({"message": {"content": "", "reasoning_content": "hmm"}, "finish_reason": "length"});
    let answer = whole_choice(&thinking).unwrap();
    assert_eq!((answer.reasoning[0].text.as_str(), answer.finish), ("hmm", Finish::Length));

    let answer = whole_choice(&json!({"message": {"refusal": "I cannot."}, "finish_reason": "stop"})).unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("I cannot.", Finish::Refusal));
}

#[test]
fn a_server_that_could_not_go_on_has_not_answered() {
    let failure = whole_choice(&json!({"message": {"content": "half"}, "finish_reason": "error"})).unwrap_err();
    let expected = "network error: the server broke the answer off (error) after 4 characters of the answer";
    assert_eq!((failure.to_string().as_str(), failure.partial.as_str()), (expected, "half"));
    assert!(failure.usage.is_some(), "the server has worked for it");
}

#[test]
fn reasoning_is_no_part_of_the_answer() {
    for key in ["reasoning_content", "reasoning"] {
        let thought = format!(r#"{{"choices":[{{"delta":{{"{key}":"hmm"}}}}]}}"#);
        let (answer, pieces) = streamed(&[&thought, r#"{"choices":[{"delta":{"content":"yes"}}]}"#, "[DONE]"]);
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.reasoning[0].text.as_str()), ("yes", "hmm"));
        assert_eq!(pieces, [r#"Reasoning("hmm")"#, r#"Text("yes")"#]);
    }
}

#[test]
fn calls_come_together_from_pieces_however_a_server_marks_them() {
    let delta = |calls: &serde_json::Value| json!({"choices": [{"delta": {"tool_calls": calls}}]}).to_string();
    let first = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}});
    let second = json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}});
    let more = |index: u64, text: &str| json!({"index": index, "function": {"arguments": text}});
    let unmarked = json!({"function": {"name": "f", "arguments": "{\"x\""}});
    let rest = json!({"function": {"arguments": ":1}"}});
    let same_place = json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": {"y": 2}}});
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
            vec![json!([first]), json!([more(0, "{}")]), json!([same_place])],
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
fn an_event_that_cannot_be_read_is_skipped_and_counted() {
    let mut draft = Draft::default();
    for data in [&b"{\"choices\":"[..], b"7", b"\xff"] {
        assert_eq!(event(&mut draft, data, &mut |_| {}), Ok(Seen::Nothing));
    }
    let last = br#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    assert_eq!(event(&mut draft, last, &mut |_| {}), Ok(Seen::Progress));
    assert_eq!(conclude(draft).unwrap().skipped_events, 3);
}

#[test]
fn only_a_finish_reason_or_the_end_mark_ends_a_stream() {
    let mut draft = Draft::default();
    for (data, ended) in [
        (r#"{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":null}"#, false),
        (r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#, false),
        (r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, true),
    ] {
        event(&mut draft, data.as_bytes(), &mut |_| {}).unwrap();
        assert_eq!(draft.is_ended(), ended);
    }
}

#[test]
fn a_second_choice_is_not_mixed_into_the_first() {
    let other = r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#;
    let one = r#"{"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]}"#;
    assert_eq!(streamed(&[other, one]).0.unwrap().text, "one");
}

#[test]
fn an_error_inside_a_stream_is_handed_out_as_it_is() {
    let refused = event(&mut Draft::default(), br#"{"error":{"message":"overloaded"}}"#, &mut |_| {}).unwrap_err();
    assert_eq!(refused.0.to_string(), r#"{"error":{"message":"overloaded"}}"#);
}
