//! Wire format of Cohere's `chat`, version 2. No I/O.

use reknit_model_api::{
    Citation, Effort, FinishReason, FormatUsed, Message, ModelRequest, ProviderState, Thought, ToolChoice, Usage,
};
use reknit_protocol::{Object, Value};

use crate::answer_builder::{AnswerBuilder, CallPiece, LastThought, OnDelta};
use crate::json::{at, count, list, text};
use crate::request_body::{
    RequestBody, attachments_note, function, image_part, strings, text_and_parts, text_part, tool_call,
    tool_declaration, user_message,
};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

/// Format of the mark that a thought is the plan of the calls after it.
const PLAN_FORMAT: &str = "cohere-plan";

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
            json.insert("content", text_and_parts(text, images.into_iter()));
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
                let parts = [text_part(&attachments_note(call))].into_iter().chain(images).collect();
                return vec![json.into(), user_message(parts)];
            }
        }
        Message::System { .. } | Message::User { .. } => {}
    }
    vec![json.into()]
}

pub(crate) fn read_event(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) {
    let in_message = |key: &str| at(json, &["delta", "message", key]);
    match text(json, &["type"]) {
        Some("message-start") => builder.set_metadata(None, text(json, &["id"]), None),
        Some("content-start" | "content-delta") => {
            if let Some(content) = in_message("content") {
                read_content(builder, content, on_delta);
            }
        }
        Some("tool-plan-delta") => {
            read_plan(builder, in_message("tool_plan").and_then(Value::as_str).unwrap_or_default(), on_delta);
        }
        Some("tool-call-start" | "tool-call-delta") => {
            mark_plan(builder);
            if let Some(call) = in_message("tool_calls") {
                read_call(builder, call, count(json, &["index"]), on_delta);
            }
        }
        Some("citation-start") => {
            if let Some(citation) = in_message("citations") {
                read_citation(builder, citation);
            }
        }
        Some("message-end") => {
            if let Some(delta) = at(json, &["delta"]) {
                read_end(builder, delta);
            }
            builder.end_mark = true;
        }
        // Ends of parts, and types that may be added.
        _ => {}
    }
}

/// Reads the body of a response that was not streamed; false if it has no field for an answer.
pub(crate) fn read_whole(builder: &mut AnswerBuilder, json: &Value, on_delta: OnDelta<'_>) -> bool {
    builder.set_metadata(None, text(json, &["id"]), None);
    let Some(message) = at(json, &["message"]).filter(|message| message.as_object().is_some()) else { return false };
    for content in list(message, &["content"]) {
        read_content(builder, content, on_delta);
    }
    read_plan(builder, text(message, &["tool_plan"]).unwrap_or_default(), on_delta);
    for (index, call) in (0..).zip(list(message, &["tool_calls"])) {
        mark_plan(builder);
        read_call(builder, call, Some(index), on_delta);
    }
    for citation in list(message, &["citations"]) {
        read_citation(builder, citation);
    }
    read_end(builder, json);
    true
}

fn read_content(builder: &mut AnswerBuilder, content: &Value, on_delta: OnDelta<'_>) {
    builder.add_reasoning(text(content, &["thinking"]).unwrap_or_default(), on_delta);
    builder.add_text(text(content, &["text"]).unwrap_or_default(), on_delta);
}

/// The plan is a thought of its own, which is sent back with the calls.
fn read_plan(builder: &mut AnswerBuilder, plan: &str, on_delta: OnDelta<'_>) {
    if !plan.is_empty() {
        if builder.last_thought != LastThought::Plan {
            builder.close_thought();
        }
        builder.add_reasoning(plan, on_delta);
        builder.last_thought = LastThought::Plan;
    }
}

fn mark_plan(builder: &mut AnswerBuilder) {
    if builder.last_thought == LastThought::Plan {
        builder.last_thought = LastThought::Open;
        builder.add_thought_state(ProviderState::new(PLAN_FORMAT, ""));
    }
}

fn read_call(builder: &mut AnswerBuilder, call: &Value, index: Option<u64>, on_delta: OnDelta<'_>) {
    let arguments = text(call, &["function", "arguments"]).unwrap_or_default();
    let (id, name) = (text(call, &["id"]), text(call, &["function", "name"]));
    builder.add_call_piece(CallPiece { index, id, name, arguments }, on_delta);
}

fn read_citation(builder: &mut AnswerBuilder, json: &Value) {
    let quoted = text(json, &["text"]).map(str::to_owned);
    for source in list(json, &["sources"]) {
        let document = at(source, &["document"]).or(at(source, &["tool_output"])).unwrap_or(source);
        let first = |keys: &[&str]| keys.iter().find_map(|key| text(document, &[key])).map(str::to_owned);
        let title = first(&["title"]).or_else(|| text(source, &["id"]).map(str::to_owned));
        builder.add_citation(Citation { url: first(&["url"]), title, text: quoted.clone() });
    }
}

fn read_end(builder: &mut AnswerBuilder, json: &Value) {
    builder.set_metadata(None, None, at(json, &["usage"]).and_then(usage));
    match text(json, &["finish_reason"]) {
        Some("COMPLETE" | "STOP_SEQUENCE") => builder.finish = Some(FinishReason::Complete),
        Some("MAX_TOKENS") => builder.finish = Some(FinishReason::Length),
        Some("TOOL_CALL") => builder.finish = Some(FinishReason::ToolCalls),
        Some(reason @ ("ERROR" | "ERROR_TOXIC" | "TIMEOUT")) => builder.aborted = Some(reason.to_lowercase()),
        Some(other) => builder.finish = Some(FinishReason::Other(other.to_lowercase())),
        None => {}
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    // All tokens, where they are counted; else those that are billed.
    let counts = |key: &str| Some((count(usage, &[key, "input_tokens"])?, count(usage, &[key, "output_tokens"])?));
    let (input, output) = counts("tokens").or_else(|| counts("billed_units"))?;
    Some(Usage { cached_tokens: count(usage, &["cached_tokens"]).unwrap_or(0), ..Usage::reported(input, output) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;
    use crate::sample::{conversation, rendered, with_schema};

    #[test]
    fn a_conversation_has_results_as_messages_of_tools() {
        let request = ModelRequest { tool_choice: ToolChoice::Named("convert".into()), ..conversation() };
        let (text, request_body) = rendered(render, Provider::Cohere, "command-a-03-2025", &request);
        insta::assert_snapshot!(text, @r#"
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
        let plain = with_schema(r#"{"type":"object"}"#);
        let (text, body) = rendered(render, Provider::Cohere, "command-a-03-2025", &plain);
        assert!(text.contains(r#""response_format":{"type":"json_object","json_schema":{"type":"object"}}"#), "{text}");
        assert_eq!(body.format_used, FormatUsed::Schema);
        let (_, body) =
            rendered(render, Provider::Cohere, "command-a-03-2025", &conversation().with_format(plain.format));
        assert_eq!(body.format_used, FormatUsed::Text);
    }

    #[test]
    fn a_model_that_reasons_gets_a_budget() {
        let request = ModelRequest { thinking_tokens: Some(500), ..ModelRequest::new(vec![], 5) };
        let body = rendered(render, Provider::Cohere, "command-a-reasoning-08-2025", &request).0;
        assert!(body.contains(r#""thinking":{"type":"enabled","token_budget":500}"#), "{body}");
    }
}
