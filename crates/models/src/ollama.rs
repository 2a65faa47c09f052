//! Wire format of Ollama's `api/chat`. No I/O.

use reknit_model_api::{Effort, FinishReason, FormatUsed, Message, ModelRequest, ToolCall, ToolChoice, Usage};
use reknit_protocol::{Object, Value};

use crate::answer_builder::{AnswerBuilder, CallPiece, OnDelta};
use crate::attachments::base64_of;
use crate::json::{at, count, list, text};
use crate::model_info::base_name;
use crate::request_body::{RequestBody, arguments, attachments_note, function, strings, tool_declaration};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let (format_used, schema) = negotiate(target, &request.format);
    let mut body = RequestBody::new(format_used);
    body.insert("model", target.model.as_str());
    body.insert("messages", request.messages.iter().flat_map(message_json).collect::<Value>());
    // Models see no tools if they must not call one; they cannot be forced to.
    if !request.tools.is_empty() && request.tool_choice != ToolChoice::None {
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
        let text = attachments_note(call);
        let images = object! {"role": "user", "content": text, "images": images};
        return vec![json.into(), images];
    }
    json.insert("images", images);
    vec![json.into()]
}

fn tool_call(call: &ToolCall) -> Value {
    let function = object! {"name": call.name.as_str(), "arguments": arguments(&call.arguments)};
    object! {"id": call.id.as_str(), "function": function}
}

/// Reads a whole response, or one line of a stream, which has the same format.
pub(crate) fn read(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) {
    let is_done = json.get("done").and_then(Value::as_bool) == Some(true);
    builder.set_metadata(text(json, &["model"]), None, usage(json).filter(|_| is_done));
    if let Some(message) = at(json, &["message"]) {
        builder.add_reasoning(text(message, &["thinking"]).unwrap_or_default(), on_delta);
        builder.add_text(text(message, &["content"]).unwrap_or_default(), on_delta);
        for call in list(message, &["tool_calls"]) {
            let arguments = match at(call, &["function", "arguments"]) {
                Some(Value::String(arguments)) => arguments.clone(),
                Some(other) => other.to_string(),
                None => "{}".to_owned(),
            };
            // A new index for each: calls are never split, and two calls without ids are distinct.
            let index = Some(builder.call_count());
            let (id, name) = (text(call, &["id"]), text(call, &["function", "name"]));
            builder.add_call_piece(CallPiece { index, id, name, arguments: &arguments }, on_delta);
        }
    }
    if !is_done {
        return;
    }
    builder.finish = Some(match text(json, &["done_reason"]) {
        Some("stop") | None => FinishReason::Complete,
        Some("length") => FinishReason::Length,
        Some(other) => FinishReason::Other(other.to_owned()),
    });
    builder.end_mark = true;
}

fn usage(json: &Value) -> Option<Usage> {
    // A prompt that was read before has no count of its own.
    Some(Usage::reported(count(json, &["prompt_eval_count"]).unwrap_or(0), count(json, &["eval_count"])?))
}

#[cfg(test)]
mod tests {
    use reknit_model_api::Attachment;

    use super::*;
    use crate::Provider;
    use crate::sample::{conversation, rendered, with_schema};

    #[test]
    fn a_conversation_has_arguments_as_objects_and_options_apart() {
        let (text, request_body) = rendered(render, Provider::Ollama, "qwen3:4b", &conversation());
        insta::assert_snapshot!(text, @r#"
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
        let schema = with_schema(r#"{"type":"object","properties":{"a":{"minimum":1}}}"#);
        let request = ModelRequest { effort: Some(Effort::Minimal), ..schema };
        for (model, expected) in [("qwen3", r#""think":true"#), ("gpt-oss:20b", r#""think":"low""#)] {
            let body = rendered(render, Provider::Ollama, model, &request).0;
            assert!(body.contains(expected) && body.contains(r#""format":{"type":"object""#), "{body}");
        }
        let off = ModelRequest { thinking_tokens: Some(0), ..ModelRequest::new(vec![], 5) };
        assert!(rendered(render, Provider::Ollama, "qwen3", &off).0.contains(r#""think":false"#));
    }

    #[test]
    fn an_image_is_a_list_beside_the_text() {
        let image = || vec![Attachment::bytes("image/png", b"abc")];
        let call = ToolCall::new("1", "f", "{}");
        let messages = vec![
            Message::user("what?").with_attachments(image()),
            Message::tool_result(&call, "x").with_attachments(image()),
        ];
        let body = rendered(render, Provider::Ollama, "llava", &ModelRequest::new(messages, 5)).0;
        assert_eq!(body.matches(r#""images":["YWJj"]"#).count(), 2, "{body}");
    }
}
