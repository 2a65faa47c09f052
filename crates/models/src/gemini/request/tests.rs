use super::*;
use crate::Provider;
use crate::sample::{conversation, target};

fn body(model: &str, request: &Request) -> (String, Rendered) {
    let rendered = render(&target(Provider::Gemini, model), request);
    (rendered.body.to_string().replace("},{", "},\n{"), rendered)
}

#[test]
fn a_conversation_has_its_system_apart_and_answers_of_tools_with_the_user() {
    let (text, rendered) = body("gemini-2.5-flash", &conversation());
    insta::assert_snapshot!(text, @r#"
    {"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"convert it"}]},
    {"role":"model","parts":[{"functionCall":{"id":"call.1","name":"convert","args":{"amount":46828.50}},"thoughtSignature":"g-1"},
    {"functionCall":{"id":"call_2","name":"convert","args":{"unreadable_arguments":"{\"amount\": "}}}]},
    {"role":"user","parts":[{"functionResponse":{"id":"call.1","name":"convert","response":{"output":"1.0"}}},
    {"functionResponse":{"id":"call_2","name":"convert","response":{"error":"amount is missing"}}},
    {"text":"go on"}]}],"tools":[{"functionDeclarations":[{"name":"convert","description":"Converts.","parametersJsonSchema":{"type":"object","properties":{"amount":{"type":"number"}}}}]}],"generationConfig":{"temperature":0,"maxOutputTokens":9000,"stopSequences":["END"],"seed":7,"thinkingConfig":{"thinkingBudget":1024,"includeThoughts":true}}}
    "#);
    assert_eq!(rendered.left_out, ["metadata"]);
}

#[test]
fn json_is_asked_for_by_its_type_and_a_schema_is_sent_digit_for_digit() {
    let schema = Value::parse(r#"{"type":"number","maximum":1234567890123456789012.50}"#).unwrap();
    let request = Request::new(vec![], 5).with_format(Format::Schema { name: "amount".into(), schema });
    let (text, rendered) = body("gemini-2.5-flash", &request);
    insta::assert_snapshot!(text, @r#"{"contents":[],"generationConfig":{"temperature":0,"maxOutputTokens":5,"responseMimeType":"application/json","responseJsonSchema":{"type":"number","maximum":1234567890123456789012.50}}}"#);
    assert_eq!(rendered.format_used, FormatUsed::Schema);
    let (text, _) = body("gemini-2.5-flash", &Request::new(vec![], 5).with_format(Format::Json));
    assert!(text.contains("application/json") && !text.contains("Schema"), "{text}");
}

#[test]
fn each_choice_of_tools_has_its_form() {
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
fn a_seed_of_more_than_32_bits_is_left_out() {
    let request = Request { seed: Some(u64::MAX), ..Request::new(vec![], 5) };
    assert_eq!(body("gemini-2.5-flash", &request).1.left_out, ["seed"]);
}
