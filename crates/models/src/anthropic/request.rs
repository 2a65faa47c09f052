//! Request bodies.

use reknit_model_api::{
    Attachment, AttachmentKind, AttachmentSource, Effort, FormatUsed, Message, ModelRequest, Thought, ToolChoice,
};
use reknit_protocol::{Object, Value};

use super::content_state::blocks_to_send;
use super::family::{ModelFamily, ThinkingSetting, family};
use super::{REDACTED_STATE_FORMAT, STATE_FORMAT};
use crate::attachments::decoded_text;
use crate::prompt_cache::{CachePoints, cache_points};
use crate::request_body::{
    RequestBody, arguments, effort_budget, plain_id, reasoning_budget, strings, system_texts, text_part,
    tool_declaration, turns,
};
use crate::response_schema::negotiate;
use crate::{Provider, Streaming, Target};

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
    let mut output = Object::new();
    if let Some(schema) = schema {
        output.insert("format", [("type", "json_schema".into()), ("schema", schema)]);
    }
    let reasons = insert_thinking(&mut body, &mut output, family, request);
    if !output.is_empty() {
        body.insert("output_config", output);
    }
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
    let user = request.metadata.get("user_id").map(|user| object! {"user_id": user.as_str()});
    body.omit_if("metadata", request.metadata.len() > usize::from(user.is_some()));
    body.insert_some("metadata", user);
    if target.streaming == Streaming::On {
        body.insert("stream", true);
    }
    body
}

/// Inserts the reasoning settings; true if the model will reason.
fn insert_thinking(body: &mut RequestBody, output: &mut Object, family: &ModelFamily, request: &ModelRequest) -> bool {
    // Reasoning and a forced tool call exclude each other, and the request needs the call.
    let forced = request.tool_choice.is_forced();
    let budget = match (request.thinking_tokens, request.effort) {
        (None, None) => return false,
        (Some(0), _) | (None, Some(Effort::None)) => {
            if family.thinking == ThinkingSetting::Effort {
                body.insert("thinking", [("type", "disabled".into())]);
            }
            return false;
        }
        (None, Some(effort)) if family.thinking == ThinkingSetting::Effort && !forced => {
            body.insert("thinking", [("type", "adaptive".into())]);
            output.insert("effort", effort.max(Effort::Low).as_str());
            return true;
        }
        (Some(tokens), _) => reasoning_budget(tokens, request.max_tokens).filter(|_| family.takes_budget()),
        (None, Some(effort)) => {
            effort_budget(effort, request.max_tokens).filter(|_| family.thinking == ThinkingSetting::Budget)
        }
    };
    let Some(tokens) = budget.filter(|_| !forced) else {
        body.omit(if request.thinking_tokens.is_some() { "thinking_tokens" } else { "effort" });
        return false;
    };
    body.insert("thinking", [("type", "enabled".into()), ("budget_tokens", tokens.into())]);
    true
}

fn system(request: &ModelRequest, points: &CachePoints) -> Option<Value> {
    let texts: Vec<&str> = system_texts(request).collect();
    let text = Some(texts.join("\n\n")).filter(|text| !text.is_empty())?;
    if !points.instructions {
        return Some(text.into());
    }
    let mut blocks = vec![text_part(&text)];
    mark_cached(&mut blocks);
    Some(blocks.into())
}

/// Asks the server to keep everything up to the last of these blocks. Blocks of reasoning cannot be marked.
fn mark_cached(blocks: &mut [Value]) {
    if let Some(Value::Object(block)) = blocks.last_mut() {
        block.insert("cache_control", [("type", "ephemeral".into())]);
    }
}

fn attachment_block(attachment: &Attachment) -> Value {
    let source = match &attachment.source {
        AttachmentSource::Url(url) | AttachmentSource::Path(url) => {
            object! {"type": "url", "url": url.as_str()}
        }
        AttachmentSource::Base64(_) if attachment.media_type.starts_with("text/") => object! {
            "type": "text", "media_type": "text/plain", "data": decoded_text(attachment),
        },
        AttachmentSource::Base64(data) => object! {
            "type": "base64", "media_type": attachment.media_type.as_str(), "data": data.as_str(),
        },
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
                let text = Some(text_part(text)).filter(|_| !text.trim().is_empty());
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
            blocks.push(text_part(message.text()));
        }
        _ => {}
    }
    if let Message::User { attachments, .. } = message {
        blocks.extend(attachments.iter().map(attachment_block));
    }
    blocks.extend(message.tool_calls().iter().map(|call| {
        object! {
            "type": "tool_use", "id": plain_id(&call.id), "name": call.name.as_str(),
            "input": arguments(&call.arguments),
        }
    }));
    blocks
}

/// The block of a thought that carries this provider's state. The server refuses others.
fn thought(thought: &Thought) -> Option<Value> {
    let state = thought.provider_state.as_ref()?;
    match state.format.as_str() {
        STATE_FORMAT => Some(object! {
            "type": "thinking", "thinking": thought.text.as_str(), "signature": state.text.as_str(),
        }),
        REDACTED_STATE_FORMAT => Some(object! {"type": "redacted_thinking", "data": state.text.as_str()}),
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
