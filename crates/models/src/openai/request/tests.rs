use reknit_model_api::{Effort, Temperature};

use super::*;
use crate::FormatSupport;
use crate::sample::{conversation, with_schema};

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
    let request = with_schema(r#"{"type":"number","maximum":1234567890123456789012.50}"#);
    let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
    insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0,"max_tokens":5,"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":false,"schema":{"type":"number","maximum":1234567890123456789012.50}}}}"#);
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

#[test]
fn a_model_that_thinks_by_default_does_not_think_when_it_must_call_a_tool() {
    for model in ["deepseek-v4-flash", "deepseek/deepseek-v4-pro", "kimi-k2.5", "moonshotai/kimi-k2.6"] {
        let target = Target { model: model.into(), ..target(FormatSupport::Json, Streaming::Off) };
        for (choice, expected) in
            [(ToolChoice::Required, true), (ToolChoice::Named("convert".into()), true), (ToolChoice::Auto, false)]
        {
            let request = ModelRequest { tool_choice: choice.clone(), effort: None, ..conversation() };
            let body = render(&target, &request).json.to_string();
            assert_eq!(body.contains(r#""thinking":{"type":"disabled"}"#), expected, "{model} {choice:?}: {body}");
        }
        let quiet = ModelRequest { effort: Some(Effort::None), ..conversation() };
        assert!(render(&target, &quiet).json.to_string().contains(r#""thinking":{"type":"disabled"}"#), "{model}");
    }
    let plain = ModelRequest { tool_choice: ToolChoice::Required, ..conversation() };
    assert!(!render(&target(FormatSupport::Json, Streaming::Off), &plain).json.to_string().contains("thinking"));
}

#[test]
fn reasoning_is_sent_back_to_every_model_that_needs_it() {
    for (model, expected) in
        [("kimi-k2.5", true), ("moonshotai/Kimi-K2.6", true), ("kimi-k2-thinking", true), ("kimi-k2-0905", false)]
    {
        let target = Target { model: model.into(), ..target(FormatSupport::Json, Streaming::Off) };
        let body = render(&target, &conversation()).json.to_string();
        assert_eq!(body.contains("reasoning_content"), expected, "{model}");
    }
}

#[test]
fn the_usage_of_a_stream_is_not_requested_from_servers_that_refuse_the_field() {
    for (base_url, expected) in [
        ("http://localhost", true),
        ("https://api.openai.com/v1", true),
        ("https://api.mistral.ai/v1", false),
        ("https://codestral.mistral.ai/v1", false),
        ("https://adb-1.2.azuredatabricks.net/serving-endpoints", false),
        ("https://mistral.ai.example.com/v1", true),
    ] {
        let target = Target { base_url: base_url.into(), ..target(FormatSupport::Json, Streaming::On) };
        let (body, _) = body(&target, &ModelRequest::new(vec![], 5));
        assert_eq!(body.contains("stream_options"), expected, "{base_url}");
    }
}

#[test]
fn arguments_that_are_null_are_an_empty_object() {
    for raw in ["null", " null\n", "", "{}"] {
        assert_eq!(crate::request_body::arguments(raw).to_string(), "{}", "{raw:?}");
    }
}

#[test]
fn openai_gets_the_strict_part_of_a_schema_and_other_servers_all_of_it() {
    let request = with_schema(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
            "properties":{"day":{"type":"string","format":"date"},"count":{"type":"integer","minimum":1}},"required":["day"]}"#,
    );
    let openai = Target { provider: crate::Provider::OpenAi, ..target(FormatSupport::Schema, Streaming::Off) };
    let (text, used) = body(&openai, &request);
    insta::assert_snapshot!(text, @r#"{"model":"m-1","messages":[],"temperature":0,"max_tokens":5,"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"day":{"type":"string","format":"date"},"count":{"type":["integer","null"],"minimum":1}},"required":["day","count"]}}}}"#);
    assert_eq!(used, FormatUsed::Strict);
    let (text, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
    assert!(text.contains(r#""strict":false,"schema":{"$schema""#), "{text}");
    assert_eq!(used, FormatUsed::Schema);
}

#[test]
fn options_that_a_model_does_not_support_are_omitted() {
    let request = ModelRequest {
        top_p: reknit_model_api::TopP::try_from(0.9).ok(),
        parallel_tool_calls: Some(false),
        thinking_tokens: Some(100),
        ..conversation()
    };
    let of = |model: &str| Target { model: model.into(), ..target(FormatSupport::Json, Streaming::Off) };
    let plain = render(&of("m-1"), &request);
    let text = plain.json.to_string();
    assert!(text.contains(r#""parallel_tool_calls":false"#) && text.contains(r#""top_p":0.9"#), "{text}");
    assert_eq!(plain.omitted_options, ["effort", "thinking_tokens", "metadata"]);
    let omitted = render(&of("o3-mini"), &request).omitted_options;
    assert_eq!(omitted, ["parallel_tool_calls", "temperature", "top_p", "stop", "thinking_tokens", "metadata"]);
}

#[test]
fn openai_gets_a_key_for_its_cache_if_there_is_enough_to_keep() {
    let openai = Target { provider: Provider::OpenAi, ..target(FormatSupport::Json, Streaming::Off) };
    let mut request = conversation();
    assert!(!render(&openai, &request).json.contains_key("prompt_cache_key"));
    request.messages[0] = Message::system("x".repeat(5_000));
    let key = render(&openai, &request).json.get("prompt_cache_key").cloned();
    assert!(key.as_ref().and_then(Value::as_str).is_some_and(|key| key.starts_with("reknit-")), "{key:?}");
    request.messages.push(Message::user("and now?"));
    assert_eq!(render(&openai, &request).json.get("prompt_cache_key").cloned(), key);
    let other = Target { provider: Provider::Compatible, ..openai };
    assert!(!render(&other, &request).json.contains_key("prompt_cache_key"));
}
