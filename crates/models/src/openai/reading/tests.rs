use reknit_dialogue::{Message, UsageSource};
use serde_json::json;

use super::*;

fn request() -> Request {
    Request::new(vec![Message::user("how much?")], 100)
}

fn conclude(reading: Reading) -> Result<Answer, Failure> {
    reading.conclude(&request(), "asked-for", FormatUsed::Text)
}

/// The answer in one piece with these members in its only choice.
fn whole(choice: &Value) -> Result<Answer, Failure> {
    let mut reading = Reading::default();
    reading.whole(json!({"choices": [choice]})).unwrap();
    conclude(reading)
}

#[test]
fn a_whole_answer_has_everything_the_server_says() {
    let mut reading = Reading::default();
    let body = json!({
        "model": "m-1-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "46828.5"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    });
    assert_eq!(reading.whole(body), Ok(Whole::Text("46828.5")));
    assert_eq!(
        conclude(reading).unwrap(),
        Answer { model: "m-1-2026".into(), ..Answer::complete("46828.5", "", Usage::reported(12, 3)) }
    );
}

#[test]
fn what_the_server_does_not_say_is_estimated_or_what_was_asked_for() {
    let answer = whole(&json!({"message": {"content": "12345678"}})).unwrap();
    assert_eq!((answer.model.as_str(), answer.usage.source), ("asked-for", UsageSource::Estimated));
    assert_eq!(answer.usage.output_tokens, 2);
    assert_eq!(answer.finish, Finish::Other("unstated".into()));
}

#[test]
fn text_in_parts_is_text() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "other"}, {"type": "text", "text": "b"}]);
    assert_eq!(whole(&json!({"message": {"content": parts}})).unwrap().text, "ab");
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
        let answer = whole(&json!({"message": {"content": "x"}, "finish_reason": reason})).unwrap();
        assert_eq!(answer.finish, expected);
    }
}

#[test]
fn an_answer_without_text_is_a_failure_that_says_what_there_was() {
    let call = json!({"id": "1", "function": {"name": "f", "arguments": "{}"}});
    for (choice, expected) in [
        (json!({}), "invalid response: no text"),
        (
            json!({"message": {"content": null}, "finish_reason": "stop"}),
            "invalid response: no text (finish reason `complete`)",
        ),
        (
            json!({"message": {"content": " \n", "reasoning_content": "hmm"}, "finish_reason": "length"}),
            "invalid response: no text (finish reason `length`, 3 characters of reasoning)",
        ),
        (
            json!({"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}),
            "invalid response: no text (finish reason `tool_calls`, calls of tools: 1)",
        ),
        (json!({"message": {"refusal": "I cannot."}}), "refused for its content: I cannot."),
        (
            json!({"message": {"content": ""}, "finish_reason": "content_filter"}),
            "refused for its content: the server held the whole answer back",
        ),
        (
            json!({"message": {"content": "half"}, "finish_reason": "error"}),
            "network error: the server broke the answer off (error) after 4 characters of the answer",
        ),
    ] {
        let failure = whole(&choice).unwrap_err();
        assert_eq!(failure.to_string(), expected);
        assert!(failure.usage.is_some(), "the server has worked for it");
    }
}

#[test]
fn reasoning_is_no_part_of_the_answer() {
    let mut reading = Reading::default();
    assert_eq!(reading.event(br#"{"choices":[{"delta":{"reasoning_content":"hmm"}}]}"#), Ok(Seen::Progress("")));
    assert!(reading.is_begun());
    assert_eq!(reading.event(br#"{"choices":[{"delta":{"content":"yes"}}]}"#), Ok(Seen::Progress("yes")));
    assert_eq!(reading.event(b"[DONE]"), Ok(Seen::EndMark));
    assert_eq!(conclude(reading).unwrap().text, "yes");
}

#[test]
fn an_event_that_cannot_be_read_is_skipped_and_counted() {
    let mut reading = Reading::default();
    for event in [&b"{\"choices\":"[..], b"7", b"\xff"] {
        assert_eq!(reading.event(event), Ok(Seen::Nothing));
    }
    reading.event(br#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#).unwrap();
    assert_eq!(conclude(reading).unwrap().skipped_events, 3);
}

#[test]
fn only_a_finish_reason_or_the_end_mark_ends_a_stream() {
    let mut reading = Reading::default();
    reading.event(br#"{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":null}"#).unwrap();
    assert!(!reading.is_ended());
    reading.event(br#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#).unwrap();
    assert!(!reading.is_ended());
    reading.event(br#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#).unwrap();
    assert!(reading.is_ended());
}

#[test]
fn a_second_choice_is_not_mixed_into_the_first() {
    let mut reading = Reading::default();
    reading.event(br#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#).unwrap();
    reading.event(br#"{"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]}"#).unwrap();
    assert_eq!(conclude(reading).unwrap().text, "one");
}

#[test]
fn an_error_inside_a_stream_is_handed_out_as_it_is() {
    let mut reading = Reading::default();
    let refused = reading.event(br#"{"error":{"message":"overloaded"}}"#).unwrap_err();
    assert_eq!(refused, Refused(json!({"error": {"message": "overloaded"}})));
}
