use reknit_dialogue::Temperature;

use super::*;
use crate::FormatSupport;
use crate::sample::conversation;

fn target(format: FormatSupport, streaming: Streaming) -> Target {
    Target { format, streaming, ..Target::new("a", "http://localhost", "m-1") }
}

fn body(target: &Target, request: &ModelRequest) -> (String, FormatUsed) {
    let request_body = render(target, request);
    (request_body.json.to_string(), request_body.format_used)
}

#[test]
fn a_plain_request_sends_temperature_zero() {
    let request = ModelRequest::new(vec![Message::system("be \"brief\""), Message::user("hi")], 500);
    let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[{"role":"system","content":"be \"brief\""},{"role":"user","content":"hi"}],"temperature":0,"max_tokens":500}"#);
    assert_eq!(used, FormatUsed::Text);
}

#[test]
fn a_streamed_request_asks_for_its_usage() {
    let request = ModelRequest::new(vec![], 5).with_temperature(Temperature::from_hundredths(30).unwrap());
    let (body, used) = body(&target(FormatSupport::Json, Streaming::On), &request.with_format(ResponseFormat::Json));
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0.3,"max_tokens":5,"response_format":{"type":"json_object"},"stream":true,"stream_options":{"include_usage":true}}"#);
    assert_eq!(used, FormatUsed::Json);
}

#[test]
fn a_schema_keeps_every_digit() {
    let schema = Value::parse(r#"{"type":"number","maximum":1234567890123456789012.50}"#).unwrap();
    let request = ModelRequest::new(vec![], 5).with_format(ResponseFormat::Schema { name: "amount".into(), schema });
    let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0,"max_tokens":5,"response_format":{"type":"json_schema","json_schema":{"name":"amount","strict":false,"schema":{"type":"number","maximum":1234567890123456789012.50}}}}"#);
    assert_eq!(used, FormatUsed::Schema);
}

#[test]
fn tools_calls_and_results_are_sent_and_unreadable_arguments_are_wrapped_in_json() {
    let request = ModelRequest { tool_choice: ToolChoice::Required, ..conversation() };
    let request_body = render(&target(FormatSupport::Json, Streaming::Off), &request);
    insta::assert_snapshot!(request_body.json.to_string().replace("},{", "},\n{"), @r#"
    {"model":"m-1","messages":[{"role":"system","content":"Be brief."},
    {"role":"user","content":"convert it"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"call.1","type":"function","function":{"name":"convert","arguments":"{\"amount\":46828.50}"}},
    {"id":"call_2","type":"function","function":{"name":"convert","arguments":"{\"unreadable_arguments\":\"{\\\"amount\\\": \"}"}}]},
    {"role":"tool","content":"1.0","tool_call_id":"call.1"},
    {"role":"tool","content":"amount is missing","tool_call_id":"call_2"},
    {"role":"user","content":"go on"}],"tools":[{"type":"function","function":{"name":"convert","description":"Converts.","parameters":{"type":"object","properties":{"amount":{"type":"number"}}}}}],"tool_choice":"required","temperature":0,"max_tokens":9000,"stop":["END"],"seed":7}
    "#);
    assert_eq!(request_body.omitted_options, ["effort", "metadata"]);
}

#[test]
fn a_model_that_reasons_gets_other_fields_and_omitted_options_are_listed() {
    let target = Target { model: "o3-mini".into(), ..target(FormatSupport::Json, Streaming::Off) };
    let request = ModelRequest { messages: vec![], ..conversation().with_tools(vec![], ToolChoice::Auto) };
    let request_body = render(&target, &request);
    insta::assert_snapshot!(request_body.json.to_string(), @r#"{"model":"o3-mini","messages":[],"max_completion_tokens":9000,"seed":7,"reasoning_effort":"low"}"#);
    assert_eq!(request_body.omitted_options, ["temperature", "stop", "metadata"]);
}

#[test]
fn a_model_that_needs_its_reasoning_back_gets_it() {
    let target = Target { model: "deepseek-reasoner".into(), ..target(FormatSupport::Json, Streaming::Off) };
    let body = render(&target, &conversation()).json.to_string();
    assert!(body.contains(r#""reasoning_content":"two callssowithout state""#), "{body}");
}

#[test]
fn each_tool_choice_has_its_json() {
    for (choice, expected) in [
        (ToolChoice::Auto, None),
        (ToolChoice::None, Some(r#""none""#)),
        (ToolChoice::Required, Some(r#""required""#)),
        (ToolChoice::Named("f".into()), Some(r#"{"type":"function","function":{"name":"f"}}"#)),
    ] {
        assert_eq!(tool_choice(&choice, named_choice).map(|value| value.to_string()).as_deref(), expected);
    }
}
