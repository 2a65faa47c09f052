//! Requests of `responses`.

use reknit_model_api::{Attachment, Message, ModelRequest, ToolCall};
use reknit_protocol::Value;

use super::RequestError;
use super::chat::{definition, effort, from_url, name_of, response_format, tool_choice};
use super::options::Options;
use crate::json::{at, list, text};

pub(super) fn read(options: &mut Options<'_>) -> Result<ModelRequest, RequestError> {
    let mut request = options.sampling()?;
    if let Some(instructions) = options.text("instructions")? {
        request.messages.push(Message::system(instructions));
    }
    match options.get("input") {
        Some(Value::String(input)) => request.messages.push(Message::user(input.as_str())),
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                read_item(item, &mut request.messages, options).map_err(|error| error.in_item("input", index))?;
            }
        }
        _ => return Err(RequestError::not_a("input", "a string or a list")),
    }
    if let Some(limit) = options.count("max_output_tokens")? {
        request.max_tokens = limit;
    }
    request.parallel_tool_calls = options.flag("parallel_tool_calls")?;
    for tool in options.list("tools")? {
        match text(tool, &["type"]) {
            Some("function") => request.tools.push(definition(tool, "parameters")?),
            _ => options.note_foreign_tool(tool),
        }
    }
    request.tool_choice = tool_choice(options, &["name"])?;
    if let Some(format) = options.get("text").and_then(|text| at(text, &["format"])) {
        request.format = response_format(format, Some(format), options);
    }
    if let Some(reasoning) = options.get("reasoning") {
        request.effort = text(reasoning, &["effort"]).and_then(effort);
    }
    for key in ["previous_response_id", "conversation", "prompt"] {
        if options.get(key).is_some() {
            options.note_foreign(format!("`{key}`, which refers to what a server has stored"));
        }
    }
    Ok(request)
}

fn read_item(item: &Value, messages: &mut Vec<Message>, options: &mut Options<'_>) -> Result<(), RequestError> {
    match text(item, &["type"]).unwrap_or("message") {
        "message" => {
            let (content, attachments) = content(item, options);
            messages.push(match text(item, &["role"]) {
                Some("system" | "developer") => Message::system(content),
                Some("user") => Message::user(content).with_attachments(attachments),
                Some("assistant") => Message::assistant(content),
                Some(other) => return Err(RequestError(format!("there is no role `{other}`"))),
                None => return Err(RequestError::missing("role")),
            });
        }
        "function_call" => {
            let value = |key| text(item, &[key]).unwrap_or_default();
            let call = ToolCall::new(value("call_id"), value("name"), value("arguments"));
            // Several calls belong to one turn of the model.
            match messages.last_mut() {
                Some(Message::Assistant { tool_calls, .. }) => tool_calls.push(call),
                _ => messages.push(Message::assistant_with_calls("", vec![call])),
            }
        }
        "function_call_output" => {
            let call = text(item, &["call_id"]).ok_or_else(|| RequestError::missing("call_id"))?;
            let output = at(item, &["output"]);
            let output = match output {
                Some(Value::String(output)) => output.clone(),
                Some(parts) => {
                    let parts = parts.as_array().unwrap_or_default();
                    parts.iter().filter_map(|part| text(part, &["text"])).collect::<Vec<_>>().join("\n")
                }
                None => String::new(),
            };
            let (name, attachments) = (name_of(call, messages), Vec::new());
            messages.push(Message::Tool { call: call.into(), name, text: output, is_error: false, attachments });
        }
        // Only the server that wrote it can read it.
        "reasoning" => {}
        other => options.note_foreign(format!("an item of the type `{other}`")),
    }
    Ok(())
}

fn content(item: &Value, options: &mut Options<'_>) -> (String, Vec<Attachment>) {
    if let Some(content) = text(item, &["content"]) {
        return (content.to_owned(), Vec::new());
    }
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for part in list(item, &["content"]) {
        match text(part, &["type"]).unwrap_or_default() {
            "input_text" | "output_text" => texts.push(text(part, &["text"]).unwrap_or_default()),
            "refusal" => texts.push(text(part, &["refusal"]).unwrap_or_default()),
            "input_image" if text(part, &["image_url"]).is_some() => {
                attachments.extend(text(part, &["image_url"]).map(|url| from_url(url, "image/*")));
            }
            "input_file" if text(part, &["file_data"]).is_some() => {
                let name = text(part, &["filename"]).map(str::to_owned);
                let data = text(part, &["file_data"]).unwrap_or_default();
                attachments.push(Attachment { name, ..from_url(data, "application/pdf") });
            }
            other => options.note_foreign(format!("a part of the type `{other}`")),
        }
    }
    (texts.join("\n"), attachments)
}
