//! Request bodies.

use reknit_model_api::{
    Attachment, AttachmentKind, AttachmentSource, Effort, FormatUsed, Message, ModelRequest, Role, Thought, ToolChoice,
};
use reknit_protocol::{Object, Value};

use super::content_state::blocks_to_send;
use super::family::{ModelFamily, ThinkingSetting, family};
use super::{REDACTED_STATE_FORMAT, STATE_FORMAT};
use crate::attachments::decoded_text;
use crate::prompt_cache::{CachePoints, cache_points};
use crate::request_body::{RequestBody, arguments, plain_id, strings, tool_declaration, turns};
use crate::response_schema::negotiate;
use crate::{Provider, Streaming, Target};

/// The smallest budget that the server accepts.
const MIN_BUDGET: u32 = 1024;

/// The body of the request.
pub(crate) fn render(target: &Target, request: &ModelRequest) -> RequestBody {
    let family = family(&target.model);
    let schema = negotiate(target, &request.format).1.filter(|_| family.schema);
    let mut body = RequestBody::new(if schema.is_some() { FormatUsed::Strict } else { FormatUsed::Text });
    let points = cache_points(target, request);
    if target.provider == Provider::VertexAnthropic {
        // The model is part of the address.
        body.insert("anthropic_version", "vertex-2023-10-16");
    } else {
        body.insert("model", target.model.as_str());
    }
    body.insert("max_tokens", request.max_tokens);
    body.insert_some("system", system(request, &points));
    body.insert(
        "messages",
        turns(&request.messages, "assistant", "content", |index, message| {
            let mut blocks = blocks(message);
            if points.message == Some(index) {
                mark_cached(&mut blocks);
            }
            blocks
        }),
    );
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(|tool| tool_declaration(tool, "input_schema")).collect();
        if points.instructions && !body.json.contains_key("system") {
            mark_cached(&mut tools);
        }
        body.insert("tools", tools);
        body.insert_some("tool_choice", tool_choice(&request.tool_choice, request.parallel_tool_calls));
    }
    let reasons = insert_output_config(&mut body, family, request, schema);
    let in_range = request.temperature.is_none_or(|temperature| temperature.hundredths() <= 100);
    let temperature = request.temperature.map(|temperature| temperature.to_number().into());
    // Newer models refuse both at once.
    let may_sample = family.sampling && !reasons;
    let has_top_p = may_sample && request.top_p.is_some();
    body.insert_if("temperature", may_sample && in_range && !has_top_p, "temperature", temperature);
    body.insert_if("top_p", has_top_p, "top_p", request.top_p.map(|top_p| top_p.to_number().into()));
    if !request.stop.is_empty() {
        body.insert("stop_sequences", strings(&request.stop));
    }
    body.omit_if("seed", request.seed.is_some());
    // The only metadata that this provider stores.
    let user = request.metadata.get("user_id").map(|user| Value::from([("user_id", user.as_str().into())]));
    body.omit_if("metadata", request.metadata.len() > usize::from(user.is_some()));
    body.insert_some("metadata", user);
    if target.streaming == Streaming::On {
        body.insert("stream", true);
    }
    body
}

/// Inserts the reasoning settings and the response format; true if the model will reason.
fn insert_output_config(
    body: &mut RequestBody,
    family: &ModelFamily,
    request: &ModelRequest,
    schema: Option<Value>,
) -> bool {
    let mut output = Object::new();
    if let Some(schema) = schema {
        output.insert("format", [("type", "json_schema".into()), ("schema", schema)]);
    }
    // Reasoning and a forced tool call exclude each other, and the request needs the call.
    let forced = request.tool_choice.is_forced();
    if let Some(tokens) = request.thinking_tokens {
        let reasons = insert_budget(body, family, request, tokens, forced);
        if !output.is_empty() {
            body.insert("output_config", output);
        }
        return reasons;
    }
    let reasons = match (request.effort, family.thinking) {
        (None, _) | (Some(Effort::None), ThinkingSetting::Never | ThinkingSetting::Budget) => false,
        (Some(_), ThinkingSetting::Never) => {
            body.omit("effort");
            false
        }
        (Some(Effort::None), ThinkingSetting::Effort) => {
            body.insert("thinking", [("type", "disabled".into())]);
            false
        }
        (Some(_), _) if forced => {
            body.omit("effort");
            false
        }
        (Some(effort), ThinkingSetting::Effort) => {
            body.insert("thinking", [("type", "adaptive".into())]);
            let effort = if effort == Effort::Minimal { Effort::Low } else { effort };
            output.insert("effort", effort.as_str());
            true
        }
        (Some(effort), ThinkingSetting::Budget) => {
            let tokens = budget(effort, request.max_tokens);
            match tokens {
                Some(tokens) => body.insert("thinking", [("type", "enabled".into()), ("budget_tokens", tokens.into())]),
                None => body.omit("effort"),
            }
            tokens.is_some()
        }
    };
    if !output.is_empty() {
        body.insert("output_config", output);
    }
    reasons
}

/// Inserts a budget for reasoning in tokens; true if the model will reason.
fn insert_budget(
    body: &mut RequestBody,
    family: &ModelFamily,
    request: &ModelRequest,
    tokens: u32,
    forced: bool,
) -> bool {
    if tokens == 0 {
        if family.thinking == ThinkingSetting::Effort {
            body.insert("thinking", [("type", "disabled".into())]);
        }
        return false;
    }
    // Models that do not take a temperature do not take a budget either.
    let takes_budget = family.thinking != ThinkingSetting::Never && family.sampling && !forced;
    let Some(tokens) = reasoning_budget(tokens, request.max_tokens).filter(|_| takes_budget) else {
        body.omit("thinking_tokens");
        return false;
    };
    body.insert("thinking", [("type", "enabled".into()), ("budget_tokens", tokens.into())]);
    true
}

/// The requested budget, which is a part of `max_tokens`; none if that is too small.
pub(crate) fn reasoning_budget(tokens: u32, max_tokens: u32) -> Option<u32> {
    Some(tokens.max(MIN_BUDGET)).filter(|tokens| *tokens < max_tokens)
}

/// Whether a model of this name reasons within a budget.
pub(crate) fn takes_budget(model: &str) -> bool {
    let family = family(model);
    family.thinking != ThinkingSetting::Never && family.sampling
}

/// The token budget for reasoning, which is a part of `max_tokens`; none if that is too small.
fn budget(effort: Effort, max_tokens: u32) -> Option<u32> {
    let tokens = match effort {
        Effort::None => return None,
        Effort::Minimal => MIN_BUDGET,
        Effort::Low => max_tokens / 4,
        Effort::Medium => max_tokens / 2,
        Effort::High => max_tokens / 4 * 3,
    };
    Some(tokens.max(MIN_BUDGET)).filter(|tokens| *tokens < max_tokens)
}

fn system(request: &ModelRequest, points: &CachePoints) -> Option<Value> {
    let texts: Vec<&str> =
        request.messages.iter().filter(|message| message.role() == Role::System).map(Message::text).collect();
    let text = Some(texts.join("\n\n")).filter(|text| !text.is_empty())?;
    if !points.instructions {
        return Some(text.into());
    }
    let mut blocks = vec![text_block(&text)];
    mark_cached(&mut blocks);
    Some(blocks.into())
}

/// Asks the server to keep everything up to the last of these blocks. Blocks of reasoning cannot be marked.
fn mark_cached(blocks: &mut [Value]) {
    if let Some(Value::Object(block)) = blocks.last_mut() {
        block.insert("cache_control", [("type", "ephemeral".into())]);
    }
}

fn text_block(text: &str) -> Value {
    Value::from([("type", "text".into()), ("text", text.into())])
}

fn attachment_block(attachment: &Attachment) -> Value {
    let source = match &attachment.source {
        AttachmentSource::Url(url) | AttachmentSource::Path(url) => {
            Value::from([("type", "url".into()), ("url", url.as_str().into())])
        }
        AttachmentSource::Base64(_) if attachment.media_type.starts_with("text/") => Value::from([
            ("type", "text".into()),
            ("media_type", "text/plain".into()),
            ("data", decoded_text(attachment).into()),
        ]),
        AttachmentSource::Base64(data) => Value::from([
            ("type", "base64".into()),
            ("media_type", attachment.media_type.as_str().into()),
            ("data", data.as_str().into()),
        ]),
    };
    let kind = if attachment.kind() == AttachmentKind::Image { "image" } else { "document" };
    let mut block = Object::from([("type", kind.into()), ("source", source)]);
    if let Some(name) = attachment.name.as_deref().filter(|_| kind == "document") {
        block.insert("title", name);
    }
    block.into()
}

fn blocks(message: &Message) -> Vec<Value> {
    if let Message::Assistant { text, tool_calls, content_state: Some(state), .. } = message
        && let Some(blocks) = blocks_to_send(state, text, tool_calls)
    {
        return blocks;
    }
    let mut blocks = Vec::new();
    if let Message::Assistant { reasoning, .. } = message {
        blocks.extend(reasoning.iter().filter_map(thought));
    }
    match message {
        Message::Tool { call, text, is_error, attachments, .. } => {
            let content = if attachments.is_empty() {
                text.as_str().into()
            } else {
                let text = Some(text_block(text)).filter(|_| !text.trim().is_empty());
                text.into_iter().chain(attachments.iter().map(attachment_block)).collect()
            };
            let mut result = Object::from([
                ("type", "tool_result".into()),
                ("tool_use_id", plain_id(call).into()),
                ("content", content),
            ]);
            if *is_error {
                result.insert("is_error", true);
            }
            blocks.push(result.into());
        }
        // The server refuses empty text blocks.
        message if !message.text().trim().is_empty() => {
            blocks.push(text_block(message.text()));
        }
        _ => {}
    }
    if let Message::User { attachments, .. } = message {
        blocks.extend(attachments.iter().map(attachment_block));
    }
    blocks.extend(message.tool_calls().iter().map(|call| {
        Value::from([
            ("type", "tool_use".into()),
            ("id", plain_id(&call.id).into()),
            ("name", call.name.as_str().into()),
            ("input", arguments(&call.arguments).into()),
        ])
    }));
    blocks
}

/// The block of a thought that carries this provider's state. The server refuses others.
fn thought(thought: &Thought) -> Option<Value> {
    let state = thought.provider_state.as_ref()?;
    match state.format.as_str() {
        STATE_FORMAT => Some(Value::from([
            ("type", "thinking".into()),
            ("thinking", thought.text.as_str().into()),
            ("signature", state.text.as_str().into()),
        ])),
        REDACTED_STATE_FORMAT => {
            Some(Value::from([("type", "redacted_thinking".into()), ("data", state.text.as_str().into())]))
        }
        _ => None,
    }
}

fn tool_choice(choice: &ToolChoice, parallel: Option<bool>) -> Option<Value> {
    let kind = match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::None => "none",
        ToolChoice::Required => "any",
        ToolChoice::Named(_) => "tool",
    };
    let mut json = Object::from([("type", kind.into())]);
    if let ToolChoice::Named(name) = choice {
        json.insert("name", name.as_str());
    }
    if let Some(parallel) = parallel.filter(|_| *choice != ToolChoice::None) {
        json.insert("disable_parallel_tool_use", !parallel);
    }
    (*choice != ToolChoice::Auto || parallel.is_some()).then(|| json.into())
}

#[cfg(test)]
mod tests;
