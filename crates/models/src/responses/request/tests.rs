use reknit_model_api::ToolChoice;

use super::*;
use crate::Provider;
use crate::sample::{conversation, rendered};

#[test]
fn a_conversation_is_a_list_of_items_with_the_providers_own_reasoning() {
    let (text, request_body) = rendered(render, Provider::OpenAiResponses, "gpt-5-mini", &conversation());
    insta::assert_snapshot!(text, @r#"
    {"model":"gpt-5-mini","input":[{"role":"system","content":"Be brief."},
    {"role":"user","content":"convert it"},
    {"type":"reasoning","id":"rs"},
    {"type":"function_call","call_id":"call.1","name":"convert","arguments":"{\"amount\":46828.50}"},
    {"type":"function_call","call_id":"call_2","name":"convert","arguments":"{\"unreadable_arguments\":\"{\\\"amount\\\": \"}"},
    {"type":"function_call_output","call_id":"call.1","output":"1.0"},
    {"type":"function_call_output","call_id":"call_2","output":"amount is missing"},
    {"role":"user","content":"go on"}],"tools":[{"type":"function","name":"convert","description":"Converts.","parameters":{"type":"object","properties":{"amount":{"type":"number"}}},"strict":false}],"max_output_tokens":9000,"reasoning":{"effort":"low"},"metadata":{"user_id":"u1"},"store":false,"include":["reasoning.encrypted_content"]}
    "#);
    assert_eq!(request_body.omitted_options, ["temperature", "stop", "seed"]);
}

#[test]
fn a_model_that_does_not_reason_gets_a_temperature_and_no_effort() {
    let request = ModelRequest { messages: vec![], ..conversation().with_tools(vec![], ToolChoice::Auto) };
    let (text, request_body) =
        rendered(render, Provider::OpenAiResponses, "gpt-4.1-mini", &request.with_format(ResponseFormat::Json));
    insta::assert_snapshot!(text, @r#"{"model":"gpt-4.1-mini","input":[],"temperature":0,"max_output_tokens":9000,"metadata":{"user_id":"u1"},"text":{"format":{"type":"json_object"}},"store":false}"#);
    assert_eq!(request_body.omitted_options, ["effort", "stop", "seed"]);
}
