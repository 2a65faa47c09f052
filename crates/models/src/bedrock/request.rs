//! Request bodies.

use reknit_model_api::{
    Attachment, AttachmentKind, Effort, FormatUsed, Message, ModelRequest, ResponseFormat, Thought, ToolChoice,
    ToolDefinition,
};
use reknit_protocol::{Object, Value, percent_encoded};

use super::family::{claude_name, constrains_answers, is_claude};
use super::{REDACTED_STATE_FORMAT, STATE_FORMAT};
use crate::anthropic;
use crate::attachments::{base64_of, file_name, subtype};
use crate::prompt_cache::{CachePoints, cache_points};
use crate::request_body::{
    RequestBody, arguments, effort_budget, metadata, plain_id, reasoning_budget, strings, system_texts, turns,
};
use crate::response_schema::negotiate;
use crate::{Streaming, Target};

/// The path after the base URL. The model may be the long name of a resource, with slashes and colons.
pub(crate) fn path(target: &Target) -> String {
    let encoded = percent_encoded(&target.model);
    let method = if target.streaming == Streaming::On { "converse-stream" } else { "converse" };
    format!("/model/{encoded}/{method}")
}

pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let (format_used, output_config) = output_config(target, request);
    let mut body = RequestBody::new(format_used);
    let caches = is_claude(&target.model) || target.model.contains("amazon.nova");
    let points = if caches { cache_points(target, request) } else { CachePoints::default() };
    let cache_point = || object! {"cachePoint": object! {"type": "default"}};
    let mut system: Vec<Value> = system_texts(request).map(text_block).collect();
    if points.instructions && !system.is_empty() {
        system.push(cache_point());
    }
    if !system.is_empty() {
        body.insert("system", system);
    }
    body.insert(
        "messages",
        turns(&request.messages, "assistant", "content", |index, message| {
            let mut blocks = blocks(message);
            if points.message == Some(index) {
                blocks.push(cache_point());
            }
            blocks
        }),
    );
    if !request.tools.is_empty() {
        body.insert("toolConfig", tool_config(request));
        body.omit_if("tool_choice", request.tool_choice == ToolChoice::None);
        body.omit_if("parallel_tool_calls", request.parallel_tool_calls.is_some());
    }
    let reasons = insert_thinking(&mut body, target, request);
    let config = inference_config(&mut body, request, reasons);
    body.insert("inferenceConfig", config);
    body.insert_some("outputConfig", output_config);
    body.omit_if("seed", request.seed.is_some());
    if !request.metadata.is_empty() {
        body.insert("requestMetadata", metadata(request));
    }
    body
}

/// The schema of the answer, which the server takes as a text. There is no JSON mode: an answer is constrained to a schema or not
/// at all.
fn output_config(target: &Target, request: &ModelRequest) -> (FormatUsed, Option<Value>) {
    let (_, schema) = negotiate(target, &request.format);
    let schema = schema.filter(|_| constrains_answers(&target.model));
    let (Some(schema), ResponseFormat::Schema { name, .. }) = (schema, &request.format) else {
        return (FormatUsed::Text, None);
    };
    let definition = object! {"name": name.as_str(), "schema": schema.to_string()};
    let format = object! {"type": "json_schema", "structure": object! {"jsonSchema": definition}};
    (FormatUsed::Strict, Some(object! {"textFormat": format}))
}

fn inference_config(body: &mut RequestBody, request: &ModelRequest, reasons: bool) -> Object {
    let mut config = Object::from([("maxTokens", request.max_tokens.into())]);
    let in_range = request.temperature.is_none_or(|temperature| temperature.hundredths() <= 100);
    match request.temperature {
        Some(temperature) if in_range && !reasons && request.top_p.is_none() => {
            config.insert("temperature", temperature.to_number());
        }
        Some(_) => body.omit("temperature"),
        None => {}
    }
    match request.top_p {
        Some(top_p) if !reasons => {
            config.insert("topP", top_p.to_number());
        }
        Some(_) => body.omit("top_p"),
        None => {}
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences", strings(&request.stop));
    }
    config
}

/// Inserts the reasoning settings of Anthropic's models; true if the model will reason.
fn insert_thinking(body: &mut RequestBody, target: &Target, request: &ModelRequest) -> bool {
    let budget = match (request.thinking_tokens, request.effort) {
        (None, None | Some(Effort::None)) | (Some(0), _) => return false,
        (Some(tokens), _) => reasoning_budget(tokens, request.max_tokens),
        (None, Some(effort)) => effort_budget(effort, request.max_tokens),
    };
    let may_reason = is_claude(&target.model)
        && anthropic::family(claude_name(&target.model)).takes_budget()
        && !request.tool_choice.is_forced();
    let Some(tokens) = budget.filter(|_| may_reason) else {
        body.omit(if request.thinking_tokens.is_some() { "thinking_tokens" } else { "effort" });
        return false;
    };
    let thinking = object! {"type": "enabled", "budget_tokens": tokens};
    body.insert("additionalModelRequestFields", object! {"thinking": thinking});
    true
}

fn tool_config(request: &ModelRequest) -> Value {
    let mut config = Object::from([("tools", request.tools.iter().map(tool).collect())]);
    let empty = || Value::from(Object::new());
    let choice = match &request.tool_choice {
        // There is no choice for no call.
        ToolChoice::Auto | ToolChoice::None => None,
        ToolChoice::Required => Some(object! {"any": empty()}),
        ToolChoice::Named(name) => Some(object! {"tool": object! {"name": name.as_str()}}),
    };
    if let Some(choice) = choice {
        config.insert("toolChoice", choice);
    }
    config.into()
}

fn tool(tool: &ToolDefinition) -> Value {
    let mut specification = Object::from([("name", tool.name.as_str().into())]);
    // The server refuses an empty description.
    if !tool.description.is_empty() {
        specification.insert("description", tool.description.as_str());
    }
    specification.insert("inputSchema", [("json", tool.schema.clone())]);
    object! {"toolSpec": specification}
}

fn text_block(text: &str) -> Value {
    object! {"text": text}
}

fn blocks(message: &Message) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Message::Assistant { reasoning, .. } = message {
        blocks.extend(reasoning.iter().filter_map(thought));
    }
    if let Message::Tool { call, text, is_error, attachments, .. } = message {
        let content: Value = [text_block(text)].into_iter().chain(attachments.iter().map(attachment_block)).collect();
        let mut result = Object::from([("toolUseId", plain_id(call).into()), ("content", content)]);
        if *is_error {
            result.insert("status", "error");
        }
        return vec![object! {"toolResult": result}];
    }
    // The server refuses empty text blocks.
    if !message.text().trim().is_empty() {
        blocks.push(text_block(message.text()));
    }
    blocks.extend(message.attachments().iter().map(attachment_block));
    blocks.extend(message.tool_calls().iter().map(|call| {
        let call = object! {
            "toolUseId": plain_id(&call.id), "name": call.name.as_str(), "input": arguments(&call.arguments),
        };
        object! {"toolUse": call}
    }));
    blocks
}

fn attachment_block(attachment: &Attachment) -> Value {
    let source = object! {"bytes": base64_of(attachment).unwrap_or_default()};
    if attachment.kind() == AttachmentKind::Image {
        return object! {"image": object! {"format": subtype(attachment), "source": source}};
    }
    let format = match subtype(attachment) {
        "plain" => "txt",
        "markdown" => "md",
        other => other,
    };
    // The name may have letters, digits, spaces, hyphens and brackets only.
    let name: String = file_name(attachment)
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || " -()[]".contains(letter) { letter } else { '-' })
        .collect();
    object! {"document": object! {"format": format, "name": name, "source": source}}
}

/// The block of a thought that carries this provider's state. Others are not sent.
fn thought(thought: &Thought) -> Option<Value> {
    let state = thought.provider_state.as_ref()?;
    let content = match state.format.as_str() {
        STATE_FORMAT => {
            object! {"reasoningText": object! {"text": thought.text.as_str(), "signature": state.text.as_str()}}
        }
        REDACTED_STATE_FORMAT => object! {"redactedContent": state.text.as_str()},
        _ => return None,
    };
    Some(object! {"reasoningContent": content})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;
    use crate::sample::{conversation, rendered, target};

    const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

    #[test]
    fn a_conversation_has_blocks_by_their_kind() {
        let (text, request_body) = rendered(render, Provider::Bedrock, CLAUDE, &conversation());
        insta::assert_snapshot!(text, @r#"
    {"system":[{"text":"Be brief."}],"messages":[{"role":"user","content":[{"text":"convert it"}]},
    {"role":"assistant","content":[{"toolUse":{"toolUseId":"call_1","name":"convert","input":{"amount":46828.50}}},
    {"toolUse":{"toolUseId":"call_2","name":"convert","input":{"unreadable_arguments":"{\"amount\": "}}}]},
    {"role":"user","content":[{"toolResult":{"toolUseId":"call_1","content":[{"text":"1.0"}]}},
    {"toolResult":{"toolUseId":"call_2","content":[{"text":"amount is missing"}],"status":"error"}},
    {"text":"go on"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"convert","description":"Converts.","inputSchema":{"json":{"type":"object","properties":{"amount":{"type":"number"}}}}}}]},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2250}},"inferenceConfig":{"maxTokens":9000,"stopSequences":["END"]},"requestMetadata":{"user_id":"u1"}}
    "#);
        assert_eq!(request_body.omitted_options, ["temperature", "seed"]);
    }

    #[test]
    fn the_schema_of_an_answer_is_a_text_for_models_that_follow_one() {
        let schema = Value::parse(
            r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                "properties": {"day": {"type": "string", "format": "date"}, "count": {"type": "integer", "minimum": 1}},
                "required": ["day"], "additionalProperties": false}"#,
        );
        let format = ResponseFormat::Schema { name: "order".into(), schema: schema.unwrap() };
        let request = ModelRequest::new(vec![Message::user("?")], 5).with_format(format);
        let render_for = |model| render(&target(Provider::Bedrock, model), &request);
        let sent = render_for(CLAUDE);
        assert_eq!(sent.format_used, FormatUsed::Strict);
        insta::assert_snapshot!(sent.json.get("outputConfig").unwrap().to_string(), @r#"{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"name":"order","schema":"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"day\":{\"type\":\"string\",\"format\":\"date\"},\"count\":{\"type\":\"integer\",\"description\":\"(minimum: 1)\"}},\"required\":[\"day\"]}"}}}}"#);
        let plain = render_for("amazon.nova-pro-v1:0");
        assert_eq!((plain.format_used, plain.json.get("outputConfig")), (FormatUsed::Text, None));
        let json = request.with_format(ResponseFormat::Json);
        let without_schema = render(&target(Provider::Bedrock, CLAUDE), &json);
        assert_eq!((without_schema.format_used, without_schema.json.get("outputConfig")), (FormatUsed::Text, None));
    }

    #[test]
    fn the_name_of_a_model_is_encoded_in_the_path() {
        let target = target(Provider::Bedrock, CLAUDE);
        assert_eq!(path(&target), "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse");
        assert!(path(&Target { streaming: Streaming::On, ..target }).ends_with("/converse-stream"));
    }

    #[test]
    fn long_instructions_are_kept_in_the_cache_of_models_that_have_one() {
        let mut request = conversation();
        request.messages[0] = Message::system("x".repeat(5_000));
        for (model, expected) in [(CLAUDE, 2), ("meta.llama3-70b-instruct-v1:0", 0)] {
            let body = rendered(render, Provider::Bedrock, model, &request).0;
            assert_eq!(body.matches("cachePoint").count(), expected, "{model}");
        }
    }
}
