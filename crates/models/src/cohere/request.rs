//! Request bodies.

use reknit_model_api::{Effort, FormatUsed, Message, ModelRequest, Thought, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use super::PLAN_FORMAT;
use crate::attachments::address;
use crate::request_body::{RequestBody, arguments, strings, tool_declaration};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let (format_used, schema) = negotiate(target, &request.format);
    // The server refuses a format beside tools.
    let format_used = if request.tools.is_empty() { format_used } else { FormatUsed::Text };
    let mut body = RequestBody::new(format_used);
    body.insert("model", target.model.as_str());
    body.insert("messages", request.messages.iter().flat_map(message_json).collect::<Value>());
    if !request.tools.is_empty() {
        insert_tools(&mut body, request);
    }
    body.insert("max_tokens", request.max_tokens);
    // The range ends at 1.
    let in_range = request.temperature.is_none_or(|temperature| temperature.hundredths() <= 100);
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    body.insert_if("temperature", in_range, "temperature", temperature);
    body.insert_some("p", request.top_p.map(reknit_model_api::TopP::to_number));
    if !request.stop.is_empty() {
        body.insert("stop_sequences", strings(&request.stop));
    }
    body.insert_some("seed", request.seed);
    body.omit_if("parallel_tool_calls", request.parallel_tool_calls.is_some());
    body.omit_if("metadata", !request.metadata.is_empty());
    insert_thinking(&mut body, target, request);
    if format_used != FormatUsed::Text {
        let mut format = Object::from([("type", "json_object".into())]);
        if let Some(schema) = schema {
            format.insert("json_schema", schema);
        }
        body.insert("response_format", format);
    }
    body.insert("stream", target.streaming == Streaming::On);
    body
}

/// A choice of one tool is sent as the only tool.
fn insert_tools(body: &mut RequestBody, request: &ModelRequest) {
    let function = |declaration| Value::from([("type", "function".into()), ("function", declaration)]);
    let chosen = |name: &str| !matches!(&request.tool_choice, ToolChoice::Named(only) if only != name);
    let tools = request.tools.iter().filter(|tool| chosen(&tool.name));
    body.insert("tools", tools.map(|tool| function(tool_declaration(tool, "parameters"))).collect::<Value>());
    match request.tool_choice {
        ToolChoice::Auto => {}
        ToolChoice::None => body.insert("tool_choice", "NONE"),
        ToolChoice::Required | ToolChoice::Named(_) => body.insert("tool_choice", "REQUIRED"),
    }
}

fn insert_thinking(body: &mut RequestBody, target: &Target, request: &ModelRequest) {
    let reasons = target.model.contains("reasoning") || target.model.contains("command-a-plus");
    let thinking = match (request.thinking_tokens, request.effort) {
        (None, None) => return,
        (Some(0), _) | (None, Some(Effort::None)) => Object::from([("type", "disabled".into())]),
        (Some(tokens), _) => Object::from([("type", "enabled".into()), ("token_budget", tokens.into())]),
        (None, Some(_)) => Object::from([("type", "enabled".into())]),
    };
    if reasons {
        return body.insert("thinking", thinking);
    }
    let asks = thinking.get("type").and_then(Value::as_str) == Some("enabled");
    body.omit_if(if request.thinking_tokens.is_some() { "thinking_tokens" } else { "effort" }, asks);
}

fn message_json(message: &Message) -> Vec<Value> {
    let mut json = Object::from([("role", message.role().as_str().into()), ("content", message.text().into())]);
    let images: Vec<Value> = message.attachments().iter().map(image_part).collect();
    match message {
        Message::User { text, .. } if !images.is_empty() => {
            let text = Some(text).filter(|text| !text.is_empty()).map(|text| text_part(text));
            json.insert("content", text.into_iter().chain(images).collect::<Value>());
        }
        Message::Assistant { text, tool_calls, reasoning, .. } => {
            let is_plan =
                |thought: &&Thought| thought.provider_state.as_ref().is_some_and(|state| state.format == PLAN_FORMAT);
            if !tool_calls.is_empty() {
                if text.is_empty() {
                    json.remove("content");
                }
                let plan: String = reasoning.iter().filter(is_plan).map(|thought| thought.text.as_str()).collect();
                if !plan.is_empty() {
                    json.insert("tool_plan", plan);
                }
                json.insert("tool_calls", tool_calls.iter().map(tool_call).collect::<Value>());
            }
        }
        Message::Tool { call, .. } => {
            json.insert("tool_call_id", call.as_str());
            // Only a message of the user may have images.
            if !images.is_empty() {
                let note = text_part(&format!("Attachments of the result of call {call}:"));
                let parts: Value = [note].into_iter().chain(images).collect();
                return vec![json.into(), Value::from([("role", "user".into()), ("content", parts)])];
            }
        }
        Message::System { .. } | Message::User { .. } => {}
    }
    vec![json.into()]
}

fn text_part(text: &str) -> Value {
    Value::from([("type", "text".into()), ("text", text.into())])
}

fn image_part(attachment: &reknit_model_api::Attachment) -> Value {
    let image = Value::from([("url", address(attachment).into())]);
    Value::from([("type", "image_url".into()), ("image_url", image)])
}

fn tool_call(call: &ToolCall) -> Value {
    let arguments = arguments(&call.arguments).to_string();
    let function = Value::from([("name", call.name.as_str().into()), ("arguments", arguments.into())]);
    Value::from([("id", call.id.as_str().into()), ("type", "function".into()), ("function", function)])
}

#[cfg(test)]
mod tests {
    use reknit_model_api::ResponseFormat;

    use super::*;
    use crate::Provider;
    use crate::sample::{conversation, target};

    #[test]
    fn a_conversation_has_results_as_messages_of_tools() {
        let request = ModelRequest { tool_choice: ToolChoice::Named("convert".into()), ..conversation() };
        let request_body = render(&target(Provider::Cohere, "command-a-03-2025"), &request);
        insta::assert_snapshot!(request_body.json.to_string().replace("},{", "},\n{"), @r#"
    {"model":"command-a-03-2025","messages":[{"role":"system","content":"Be brief."},
    {"role":"user","content":"convert it"},
    {"role":"assistant","tool_calls":[{"id":"call.1","type":"function","function":{"name":"convert","arguments":"{\"amount\":46828.50}"}},
    {"id":"call_2","type":"function","function":{"name":"convert","arguments":"{\"unreadable_arguments\":\"{\\\"amount\\\": \"}"}}]},
    {"role":"tool","content":"1.0","tool_call_id":"call.1"},
    {"role":"tool","content":"amount is missing","tool_call_id":"call_2"},
    {"role":"user","content":"go on"}],"tools":[{"type":"function","function":{"name":"convert","description":"Converts.","parameters":{"type":"object","properties":{"amount":{"type":"number"}}}}}],"tool_choice":"REQUIRED","max_tokens":9000,"temperature":0,"stop_sequences":["END"],"seed":7,"stream":false}
    "#);
        assert_eq!(request_body.omitted_options, ["metadata", "effort"]);
    }

    #[test]
    fn a_schema_is_sent_unless_there_are_tools() {
        let schema = Value::parse(r#"{"type":"object"}"#).unwrap();
        let format = ResponseFormat::Schema { name: "x".into(), schema };
        let plain = ModelRequest::new(vec![], 5).with_format(format.clone());
        let body = render(&target(Provider::Cohere, "command-a-03-2025"), &plain);
        assert!(
            body.json
                .to_string()
                .contains(r#""response_format":{"type":"json_object","json_schema":{"type":"object"}}"#)
        );
        assert_eq!(body.format_used, FormatUsed::Schema);
        let with_tools = render(&target(Provider::Cohere, "command-a-03-2025"), &conversation().with_format(format));
        assert_eq!(with_tools.format_used, FormatUsed::Text);
    }

    #[test]
    fn a_model_that_reasons_gets_a_budget() {
        let request = ModelRequest { thinking_tokens: Some(500), ..ModelRequest::new(vec![], 5) };
        let body = render(&target(Provider::Cohere, "command-a-reasoning-08-2025"), &request).json.to_string();
        assert!(body.contains(r#""thinking":{"type":"enabled","token_budget":500}"#), "{body}");
    }
}
