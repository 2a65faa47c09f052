use reknit_model_api::ResponseFormat;

use super::*;
use crate::Provider;
use crate::sample::{conversation, rendered, with_schema};

fn body(model: &str, request: &ModelRequest) -> (String, RequestBody) {
    rendered(render, Provider::Gemini, model, request)
}

#[test]
fn a_conversation_has_a_separate_system_instruction_and_tool_results_in_user_turns() {
    let (text, request_body) = body("gemini-2.5-flash", &conversation());
    insta::assert_snapshot!(text, @r#"
    {"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"convert it"}]},
    {"role":"model","parts":[{"functionCall":{"id":"call.1","name":"convert","args":{"amount":46828.50}},"thoughtSignature":"g-1"},
    {"functionCall":{"id":"call_2","name":"convert","args":{"unreadable_arguments":"{\"amount\": "}}}]},
    {"role":"user","parts":[{"functionResponse":{"id":"call.1","name":"convert","response":{"output":"1.0"}}},
    {"functionResponse":{"id":"call_2","name":"convert","response":{"error":"amount is missing"}}},
    {"text":"go on"}]}],"tools":[{"functionDeclarations":[{"name":"convert","description":"Converts.","parametersJsonSchema":{"type":"object","properties":{"amount":{"type":"number"}}}}]}],"generationConfig":{"temperature":0,"maxOutputTokens":9000,"stopSequences":["END"],"seed":7,"thinkingConfig":{"thinkingBudget":1024,"includeThoughts":true}}}
    "#);
    assert_eq!(request_body.omitted_options, ["metadata"]);
}

#[test]
fn json_is_requested_by_its_mime_type_and_a_schema_keeps_every_digit() {
    let request = with_schema(r#"{"type":"number","maximum":1234567890123456789012.50}"#);
    let (text, request_body) = body("gemini-2.5-flash", &request);
    insta::assert_snapshot!(text, @r#"{"contents":[],"generationConfig":{"temperature":0,"maxOutputTokens":5,"responseMimeType":"application/json","responseJsonSchema":{"type":"number","maximum":1234567890123456789012.50}}}"#);
    assert_eq!(request_body.format_used, FormatUsed::Schema);
    let (text, _) = body("gemini-2.5-flash", &ModelRequest::new(vec![], 5).with_format(ResponseFormat::Json));
    assert!(text.contains("application/json") && !text.contains("Schema"), "{text}");
}

#[test]
fn each_tool_choice_has_its_json() {
    for (choice, expected) in [
        (ToolChoice::Auto, None),
        (ToolChoice::None, Some(r#"{"functionCallingConfig":{"mode":"NONE"}}"#)),
        (ToolChoice::Required, Some(r#"{"functionCallingConfig":{"mode":"ANY"}}"#)),
        (
            ToolChoice::Named("f".into()),
            Some(r#"{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}"#),
        ),
    ] {
        assert_eq!(tool_config(&choice).map(|config| config.to_string()).as_deref(), expected);
    }
}

#[test]
fn a_seed_of_more_than_32_bits_is_omitted() {
    let request = ModelRequest { seed: Some(u64::MAX), ..ModelRequest::new(vec![], 5) };
    assert_eq!(body("gemini-2.5-flash", &request).1.omitted_options, ["seed"]);
}

#[test]
fn a_schema_keeps_the_keywords_that_the_server_knows() {
    let request = with_schema(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
            "properties":{"day":{"type":"string","format":"date","pattern":"^2"},"kind":{"const":"a"}},"required":["day"]}"#,
    );
    insta::assert_snapshot!(body("gemini-2.5-flash", &request).0, @r#"{"contents":[],"generationConfig":{"temperature":0,"maxOutputTokens":5,"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"day":{"type":"string","format":"date","description":"(pattern: \"^2\")"},"kind":{"type":"string","enum":["a"]}},"required":["day"]}}}"#);
}

#[test]
fn a_share_and_a_budget_are_part_of_the_configuration() {
    let with = |tokens: u32| ModelRequest {
        top_p: reknit_model_api::TopP::try_from(0.9).ok(),
        thinking_tokens: Some(tokens),
        ..conversation()
    };
    for (model, tokens, expected) in [
        ("gemini-2.5-flash", 500, Some(r#""thinkingConfig":{"thinkingBudget":500,"includeThoughts":true}"#)),
        ("gemini-2.5-flash", 0, Some(r#""thinkingConfig":{"thinkingBudget":0,"includeThoughts":false}"#)),
        ("gemini-3-flash-preview", 500, Some(r#""thinkingConfig":{"thinkingBudget":500,"includeThoughts":true}"#)),
        ("gemini-2.5-pro", 0, None),
        ("gemini-2.0-flash", 500, None),
    ] {
        let (text, request_body) = body(model, &with(tokens));
        assert!(text.contains(r#""topP":0.9"#), "{text}");
        assert_eq!(expected.is_some_and(|expected| text.contains(expected)), expected.is_some(), "{model}: {text}");
        assert_eq!(request_body.omitted_options.contains(&"thinking_tokens"), expected.is_none(), "{model}");
    }
}
