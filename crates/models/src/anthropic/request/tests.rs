use super::*;
use crate::Provider;
use crate::sample::{conversation, target};

fn body(model: &str, request: &Request) -> (String, Rendered) {
    let rendered = render(&target(Provider::Anthropic, model), request);
    (rendered.body.to_string().replace("},{", "},\n{"), rendered)
}

#[test]
fn a_conversation_has_its_system_apart_and_answers_of_tools_with_the_user() {
    let (text, rendered) = body("claude-sonnet-4-5", &conversation());
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
    assert_eq!(rendered.left_out, ["temperature", "seed"]);
}

#[test]
fn newer_models_take_effort_and_no_temperature() {
    let request =
        Request { messages: vec![Message::user("hi")], ..conversation().with_tools(vec![], ToolChoice::Auto) };
    let (text, rendered) = body("claude-opus-4-7", &request);
    insta::assert_snapshot!(text, @r#"{"model":"claude-opus-4-7","max_tokens":9000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"stop_sequences":["END"],"metadata":{"user_id":"u1"}}"#);
    assert_eq!(rendered.left_out, ["temperature", "seed"]);
}

#[test]
fn who_must_call_a_tool_does_not_think_first() {
    let request = Request { tool_choice: ToolChoice::Required, ..conversation() };
    let (text, rendered) = body("claude-sonnet-4-5", &request);
    assert!(!text.contains("budget_tokens") && text.contains(r#""tool_choice":{"type":"any"}"#), "{text}");
    assert_eq!(rendered.left_out, ["effort", "seed"]);
}

#[test]
fn a_budget_is_a_part_of_the_answer_or_there_is_none() {
    for (effort, max_tokens, expected) in [
        (Effort::Minimal, 9_000, Some(1024)),
        (Effort::Low, 2_000, Some(1024)),
        (Effort::High, 8_000, Some(6_000)),
        (Effort::High, 1_024, None),
        (Effort::None, 9_000, None),
    ] {
        assert_eq!(budget(effort, max_tokens), expected, "{effort:?} {max_tokens}");
    }
}

#[test]
fn an_answer_is_held_to_a_closed_schema_or_to_nothing() {
    let closed = Value::parse(r#"{"type":"object","properties":{},"additionalProperties":false}"#).unwrap();
    let open = Value::parse(r#"{"type":"object"}"#).unwrap();
    let schema = |schema: &Value| Format::Schema { name: "x".into(), schema: schema.clone() };
    for (model, format, expected) in [
        ("claude-sonnet-4-5", schema(&closed), FormatUsed::Strict),
        ("claude-sonnet-4-5", schema(&open), FormatUsed::Text),
        ("claude-3-5-haiku-latest", schema(&closed), FormatUsed::Text),
        ("claude-sonnet-4-5", Format::Json, FormatUsed::Text),
    ] {
        let (text, rendered) = body(model, &Request::new(vec![], 5).with_format(format));
        assert_eq!(rendered.format_used, expected, "{model}");
        assert_eq!(text.contains("json_schema"), expected == FormatUsed::Strict);
    }
}

#[test]
fn a_temperature_above_one_is_left_out() {
    let hot = reknit_dialogue::Temperature::from_hundredths(101).unwrap();
    let (text, rendered) = body("claude-sonnet-4-5", &Request::new(vec![], 5).with_temperature(hot));
    assert!(!text.contains("temperature"), "{text}");
    assert_eq!(rendered.left_out, ["temperature"]);
}
