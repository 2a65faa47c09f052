use reknit_dialogue::{Effort, Temperature, Tool};

use super::*;
use crate::FormatSupport;

fn target(format: FormatSupport, streaming: Streaming) -> Target {
    Target { format, streaming, ..Target::new("a", "http://localhost", "m-1") }
}

fn body(target: &Target, request: &Request) -> (String, FormatUsed) {
    let rendered = render(target, request);
    (rendered.body.to_string(), rendered.format_used)
}

#[test]
fn a_plain_question_sends_temperature_zero_as_zero() {
    let request = Request::new(vec![Message::system("be \"brief\""), Message::user("hi")], 500);
    let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[{"role":"system","content":"be \"brief\""},{"role":"user","content":"hi"}],"temperature":0,"max_tokens":500}"#);
    assert_eq!(used, FormatUsed::Text);
}

#[test]
fn a_stream_asks_for_its_usage() {
    let request = Request::new(vec![], 5).with_temperature(Temperature::from_hundredths(30).unwrap());
    let (body, used) = body(&target(FormatSupport::Json, Streaming::On), &request.with_format(Format::Json));
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0.3,"max_tokens":5,"response_format":{"type":"json_object"},"stream":true,"stream_options":{"include_usage":true}}"#);
    assert_eq!(used, FormatUsed::Json);
}

#[test]
fn a_schema_is_sent_digit_for_digit() {
    let schema = Value::parse(r#"{"type":"number","maximum":1234567890123456789012.50}"#).unwrap();
    let request = Request::new(vec![], 5).with_format(Format::Schema { name: "amount".into(), schema });
    let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0,"max_tokens":5,"response_format":{"type":"json_schema","json_schema":{"name":"amount","strict":false,"schema":{"type":"number","maximum":1234567890123456789012.50}}}}"#);
    assert_eq!(used, FormatUsed::Schema);
}

/// A conversation with everything in it.
fn conversation() -> Request {
    let call = ToolCall::new("call_1", "convert", r#"{"amount": 46828.50}"#);
    let broken = ToolCall::new("call_2", "convert", r#"{"amount": "#);
    let thought = Thought { text: "two calls".into(), seal: None };
    let messages = vec![
        Message::user("convert it"),
        Message::Assistant {
            text: String::new(),
            tool_calls: vec![call.clone(), broken.clone()],
            reasoning: vec![thought],
        },
        Message::result(&call, "1.0"),
        Message::error(&broken, "amount is missing"),
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
        ..Request::new(messages, 9).with_tools(vec![tool], ToolChoice::Required)
    }
}

#[test]
fn tools_their_calls_and_their_answers_are_sent_and_what_was_no_json_becomes_some() {
    let rendered = render(&target(FormatSupport::Json, Streaming::Off), &conversation());
    insta::assert_snapshot!(rendered.body.to_string().replace("},{", "},\n{"), @r#"
    {"model":"m-1","messages":[{"role":"user","content":"convert it"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"convert","arguments":"{\"amount\":46828.50}"}},
    {"id":"call_2","type":"function","function":{"name":"convert","arguments":"{\"unreadable_arguments\":\"{\\\"amount\\\": \"}"}}]},
    {"role":"tool","content":"1.0","tool_call_id":"call_1"},
    {"role":"tool","content":"amount is missing","tool_call_id":"call_2"}],"tools":[{"type":"function","function":{"name":"convert","description":"Converts.","parameters":{"type":"object","properties":{"amount":{"type":"number"}}}}}],"tool_choice":"required","temperature":0,"max_tokens":9,"stop":["END"],"seed":7}
    "#);
    assert_eq!(rendered.left_out, ["effort"]);
}

#[test]
fn a_model_that_thinks_gets_other_fields_and_the_answer_says_what_was_left_out() {
    let target = Target { model: "o3-mini".into(), ..target(FormatSupport::Json, Streaming::Off) };
    let request = Request { messages: vec![], ..conversation().with_tools(vec![], ToolChoice::Auto) };
    let rendered = render(&target, &request);
    insta::assert_snapshot!(rendered.body.to_string(), @r#"{"model":"o3-mini","messages":[],"max_completion_tokens":9,"seed":7,"reasoning_effort":"low"}"#);
    assert_eq!(rendered.left_out, ["temperature", "stop"]);
}

#[test]
fn a_model_that_recalls_its_reasoning_is_shown_it() {
    let target = Target { model: "deepseek-reasoner".into(), ..target(FormatSupport::Json, Streaming::Off) };
    let body = render(&target, &conversation()).body.to_string();
    assert!(body.contains(r#""reasoning_content":"two calls""#), "{body}");
}

#[test]
fn each_choice_of_tools_has_its_form() {
    for (choice, expected) in [
        (ToolChoice::Auto, None),
        (ToolChoice::None, Some(r#""none""#)),
        (ToolChoice::Required, Some(r#""required""#)),
        (ToolChoice::Named("f".into()), Some(r#"{"type":"function","function":{"name":"f"}}"#)),
    ] {
        assert_eq!(tool_choice(&choice).map(|value| value.to_string()).as_deref(), expected);
    }
}
