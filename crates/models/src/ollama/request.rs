//! Request bodies.

use reknit_model_api::{Effort, FormatUsed, Message, ModelRequest, ToolCall, ToolChoice};
use reknit_protocol::{Object, Value};

use crate::attachments::base64_of;
use crate::model_info::base_name;
use crate::request_body::{RequestBody, arguments, strings, tool_declaration};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let (format_used, schema) = negotiate(target, &request.format);
    let mut body = RequestBody::new(format_used);
    body.insert("model", target.model.as_str());
    body.insert("messages", request.messages.iter().flat_map(message_json).collect::<Value>());
    // Models see no tools if they must not call one; they cannot be forced to.
    if !request.tools.is_empty() && request.tool_choice != ToolChoice::None {
        let function = |declaration| Value::from([("type", "function".into()), ("function", declaration)]);
        let tools = request.tools.iter().map(|tool| function(tool_declaration(tool, "parameters")));
        body.insert("tools", tools.collect::<Value>());
        body.omit_if("tool_choice", request.tool_choice.is_forced());
        body.omit_if("parallel_tool_calls", request.parallel_tool_calls.is_some());
    }
    body.insert("options", options(request));
    body.insert_some("think", think(&target.model, request));
    body.omit_if("thinking_tokens", request.thinking_tokens.is_some_and(|tokens| tokens > 0));
    body.omit_if("metadata", !request.metadata.is_empty());
    match (format_used, schema) {
        (_, Some(schema)) => body.insert("format", schema),
        (FormatUsed::Json, None) => body.insert("format", "json"),
        _ => {}
    }
    body.insert("stream", target.streaming == Streaming::On);
    body
}

fn options(request: &ModelRequest) -> Object {
    let mut options = Object::from([("num_predict", request.max_tokens.into())]);
    if let Some(temperature) = request.temperature {
        options.insert("temperature", temperature.to_number());
    }
    if let Some(top_p) = request.top_p {
        options.insert("top_p", top_p.to_number());
    }
    if let Some(seed) = request.seed {
        options.insert("seed", seed);
    }
    if !request.stop.is_empty() {
        options.insert("stop", strings(&request.stop));
    }
    options
}

/// A switch for most models; a level for those that have levels.
fn think(model: &str, request: &ModelRequest) -> Option<Value> {
    let effort = if request.thinking_tokens == Some(0) { Some(Effort::None) } else { request.effort };
    Some(match effort? {
        Effort::None => false.into(),
        Effort::Minimal | Effort::Low if has_levels(model) => "low".into(),
        effort if has_levels(model) => effort.as_str().into(),
        _ => true.into(),
    })
}

fn has_levels(model: &str) -> bool {
    base_name(model).starts_with("gpt-oss")
}

fn message_json(message: &Message) -> Vec<Value> {
    let mut json = Object::from([("role", message.role().as_str().into()), ("content", message.text().into())]);
    match message {
        Message::Assistant { tool_calls, reasoning, .. } => {
            let thinking: String = reasoning.iter().map(|thought| thought.text.as_str()).collect();
            if !thinking.is_empty() {
                json.insert("thinking", thinking);
            }
            if !tool_calls.is_empty() {
                json.insert("tool_calls", tool_calls.iter().map(tool_call).collect::<Value>());
            }
        }
        Message::Tool { name, call, .. } => {
            json.insert("tool_name", name.as_str());
            json.insert("tool_call_id", call.as_str());
        }
        Message::System { .. } | Message::User { .. } => {}
    }
    let images: Vec<Value> = message.attachments().iter().filter_map(base64_of).map(Value::from).collect();
    if images.is_empty() {
        return vec![json.into()];
    }
    // Only a message of the user may have images.
    if let Message::Tool { call, .. } = message {
        let text = format!("Attachments of the result of call {call}:");
        let images = Value::from([("role", "user".into()), ("content", text.into()), ("images", images.into())]);
        return vec![json.into(), images];
    }
    json.insert("images", images);
    vec![json.into()]
}

fn tool_call(call: &ToolCall) -> Value {
    let function = Value::from([("name", call.name.as_str().into()), ("arguments", arguments(&call.arguments).into())]);
    Value::from([("id", call.id.as_str().into()), ("function", function)])
}

#[cfg(test)]
mod tests {
    use reknit_model_api::{Attachment, ResponseFormat};

    use super::*;
    use crate::Provider;
    use crate::sample::{conversation, target};

    #[test]
    fn a_conversation_has_arguments_as_objects_and_options_apart() {
        let request_body = render(&target(Provider::Ollama, "qwen3:4b"), &conversation());
        insta::assert_snapshot!(request_body.json.to_string().replace("},{", "},\n{"), @r#"
    {"model":"qwen3:4b","messages":[{"role":"system","content":"Be brief."},
    {"role":"user","content":"convert it"},
    {"role":"assistant","content":"","thinking":"two callssowithout state","tool_calls":[{"id":"call.1","function":{"name":"convert","arguments":{"amount":46828.50}}},
    {"id":"call_2","function":{"name":"convert","arguments":{"unreadable_arguments":"{\"amount\": "}}}]},
    {"role":"tool","content":"1.0","tool_name":"convert","tool_call_id":"call.1"},
    {"role":"tool","content":"amount is missing","tool_name":"convert","tool_call_id":"call_2"},
    {"role":"user","content":"go on"}],"tools":[{"type":"function","function":{"name":"convert","description":"Converts.","parameters":{"type":"object","properties":{"amount":{"type":"number"}}}}}],"options":{"num_predict":9000,"temperature":0,"seed":7,"stop":["END"]},"think":true,"stream":false}
    "#);
        assert_eq!(request_body.omitted_options, ["metadata"]);
    }

    #[test]
    fn a_schema_is_the_format_and_reasoning_is_a_switch_or_a_level() {
        let schema = Value::parse(r#"{"type":"object","properties":{"a":{"minimum":1}}}"#).unwrap();
        let format = ResponseFormat::Schema { name: "x".into(), schema };
        let request =
            ModelRequest { effort: Some(Effort::Minimal), ..ModelRequest::new(vec![], 5).with_format(format) };
        for (model, expected) in [("qwen3", r#""think":true"#), ("gpt-oss:20b", r#""think":"low""#)] {
            let body = render(&target(Provider::Ollama, model), &request).json.to_string();
            assert!(body.contains(expected) && body.contains(r#""format":{"type":"object""#), "{body}");
        }
        let off = ModelRequest { thinking_tokens: Some(0), ..ModelRequest::new(vec![], 5) };
        assert!(render(&target(Provider::Ollama, "qwen3"), &off).json.to_string().contains(r#""think":false"#));
    }

    #[test]
    fn an_image_is_a_list_beside_the_text() {
        let image = || vec![Attachment::bytes("image/png", b"abc")];
        let call = ToolCall::new("1", "f", "{}");
        let messages = vec![
            Message::user("what?").with_attachments(image()),
            Message::tool_result(&call, "x").with_attachments(image()),
        ];
        let body = render(&target(Provider::Ollama, "llava"), &ModelRequest::new(messages, 5)).json.to_string();
        assert_eq!(body.matches(r#""images":["YWJj"]"#).count(), 2, "{body}");
    }
}
