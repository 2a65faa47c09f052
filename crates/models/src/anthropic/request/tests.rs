use reknit_model_api::ResponseFormat;

use super::*;
use crate::Provider;
use crate::sample::{conversation, rendered, target, with_schema};

fn body(model: &str, request: &ModelRequest) -> (String, RequestBody) {
    rendered(render, Provider::Anthropic, model, request)
}

#[test]
fn a_conversation_has_a_separate_system_prompt_and_tool_results_in_user_turns() {
    let (text, request_body) = body("claude-sonnet-4-5", &conversation());
    insta::assert_snapshot!(text, @r#"
    {"model":"claude-sonnet-4-5","max_tokens":9000,"system":"Be brief.","messages":[{"role":"user","content":[{"type":"text","text":"convert it"}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"two calls","signature":"a-1"},
    {"type":"redacted_thinking","data":"a-2"},
    {"type":"tool_use","id":"call_1","name":"convert","input":{"amount":46828.50}},
    {"type":"tool_use","id":"call_2","name":"convert","input":{"unreadable_arguments":"{\"amount\": "}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"1.0"},
    {"type":"tool_result","tool_use_id":"call_2","content":"amount is missing","is_error":true},
    {"type":"text","text":"go on"}]}],"tools":[{"name":"convert","description":"Converts.","input_schema":{"type":"object","properties":{"amount":{"type":"number"}}}}],"thinking":{"type":"enabled","budget_tokens":2250},"stop_sequences":["END"],"metadata":{"user_id":"u1"}}
    "#);
    assert_eq!(request_body.omitted_options, ["temperature", "seed"]);
}

#[test]
fn newer_models_support_effort_and_no_temperature() {
    let request =
        ModelRequest { messages: vec![Message::user("hi")], ..conversation().with_tools(vec![], ToolChoice::Auto) };
    let (text, request_body) = body("claude-opus-4-7", &request);
    insta::assert_snapshot!(text, @r#"{"model":"claude-opus-4-7","max_tokens":9000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"stop_sequences":["END"],"metadata":{"user_id":"u1"}}"#);
    assert_eq!(request_body.omitted_options, ["temperature", "seed"]);
}

#[test]
fn a_model_that_must_call_a_tool_does_not_reason() {
    let request = ModelRequest { tool_choice: ToolChoice::Required, ..conversation() };
    let (text, request_body) = body("claude-sonnet-4-5", &request);
    assert!(!text.contains("budget_tokens") && text.contains(r#""tool_choice":{"type":"any"}"#), "{text}");
    assert_eq!(request_body.omitted_options, ["effort", "seed"]);
}

#[test]
fn the_reasoning_budget_is_a_part_of_the_answers_tokens() {
    for (effort, max_tokens, expected) in [
        (Effort::Minimal, 9_000, Some(1024)),
        (Effort::Low, 2_000, Some(1024)),
        (Effort::High, 8_000, Some(6_000)),
        (Effort::High, 1_024, None),
        (Effort::None, 9_000, None),
    ] {
        assert_eq!(effort_budget(effort, max_tokens), expected, "{effort:?} {max_tokens}");
    }
}

#[test]
fn an_answer_is_constrained_to_a_strict_schema_or_not_at_all() {
    let schema = |schema: &str| with_schema(schema).format;
    let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    for (model, format, expected) in [
        ("claude-sonnet-4-5", schema(closed), FormatUsed::Strict),
        ("claude-sonnet-4-5", schema(r#"{"type":"object"}"#), FormatUsed::Text),
        ("claude-3-5-haiku-latest", schema(closed), FormatUsed::Text),
        ("claude-sonnet-4-5", ResponseFormat::Json, FormatUsed::Text),
    ] {
        let (text, request_body) = body(model, &ModelRequest::new(vec![], 5).with_format(format));
        assert_eq!(request_body.format_used, expected, "{model}");
        assert_eq!(text.contains("json_schema"), expected == FormatUsed::Strict);
    }
}

#[test]
fn a_temperature_above_one_is_omitted() {
    let hot = reknit_model_api::Temperature::from_hundredths(101).unwrap();
    let (text, request_body) = body("claude-sonnet-4-5", &ModelRequest::new(vec![], 5).with_temperature(hot));
    assert!(!text.contains("temperature"), "{text}");
    assert_eq!(request_body.omitted_options, ["temperature"]);
}

#[test]
fn a_schema_with_other_keywords_and_optional_properties_is_translated() {
    let request = with_schema(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
            "properties":{"day":{"type":"string","format":"date"},"count":{"type":"integer","minimum":1}},"required":["day"]}"#,
    );
    let (text, request_body) = body("claude-sonnet-4-5", &request);
    insta::assert_snapshot!(text, @r#"{"model":"claude-sonnet-4-5","max_tokens":5,"messages":[],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{"day":{"type":"string","format":"date"},"count":{"type":"integer","description":"(minimum: 1)"}},"required":["day"]}}},"temperature":0}"#);
    assert_eq!(request_body.format_used, FormatUsed::Strict);
}

#[test]
fn long_instructions_and_the_conversation_up_to_the_last_result_are_kept_in_the_cache() {
    let mut request = conversation();
    request.messages[0] = Message::system("x".repeat(5_000));
    let (text, _) = body("claude-sonnet-4-5", &request);
    let mark = r#""cache_control":{"type":"ephemeral"}"#;
    assert_eq!(text.matches(mark).count(), 2, "{text}");
    assert!(text.contains(&format!(r#"xxx",{mark}}}],"messages""#)), "{text}");
    assert!(text.contains(&format!(r#""content":"amount is missing","is_error":true,{mark}}}"#)), "{text}");
    let uncached = Target { caching: crate::Caching::Off, ..target(Provider::Anthropic, "claude-sonnet-4-5") };
    assert!(!render(&uncached, &request).json.to_string().contains("cache_control"));
}

#[test]
fn a_budget_counts_more_than_the_effort_and_is_omitted_where_there_is_none() {
    for (model, tokens, expected, omitted) in [
        ("claude-sonnet-4-5", 2_000, Some(r#""thinking":{"type":"enabled","budget_tokens":2000}"#), None),
        ("claude-opus-4-6", 500, Some(r#""thinking":{"type":"enabled","budget_tokens":1024}"#), None),
        ("claude-opus-4-6", 0, Some(r#""thinking":{"type":"disabled"}"#), None),
        ("claude-sonnet-4-5", 0, None, None),
        ("claude-sonnet-5", 2_000, None, Some("thinking_tokens")),
        ("claude-3-5-haiku-latest", 2_000, None, Some("thinking_tokens")),
        ("claude-sonnet-4-5", 9_000, None, Some("thinking_tokens")),
    ] {
        let request = ModelRequest { thinking_tokens: Some(tokens), ..conversation() };
        let (text, request_body) = body(model, &request);
        let thinking = text.contains("\"thinking\":{").then_some(());
        assert_eq!(
            expected.map(|expected| text.contains(expected)),
            thinking.map(|()| true),
            "{model} {tokens}: {text}"
        );
        let is_omitted = request_body.omitted_options.contains(&"thinking_tokens");
        assert_eq!(is_omitted, omitted.is_some(), "{model} {tokens}");
    }
}

#[test]
fn sampling_by_share_replaces_the_temperature_and_parallel_calls_are_part_of_the_choice() {
    let request = ModelRequest {
        top_p: reknit_model_api::TopP::try_from(0.9).ok(),
        parallel_tool_calls: Some(false),
        effort: None,
        ..conversation()
    };
    let (text, request_body) = body("claude-sonnet-4-5", &request);
    assert!(text.contains(r#""top_p":0.9"#) && !text.contains("temperature"), "{text}");
    assert!(text.contains(r#""tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#), "{text}");
    assert_eq!(request_body.omitted_options, ["temperature", "seed"]);
    assert_eq!(body("claude-sonnet-5", &request).1.omitted_options, ["temperature", "top_p", "seed"]);
}
