//! Checks our client with a real server: whole and streamed; text, with a schema, with a tool, and with an image.

use std::process::ExitCode;
use std::time::Duration;

use reknit_model_api::{
    Attachment, Delta, ErrorClass, Message, ModelRequest, ResponseFormat, ToolChoice, ToolDefinition,
};
use reknit_models::{FormatSupport, Models, Streaming, Target};
use reknit_protocol::Value;

use crate::{Mode, Result};

const QUESTION: &str = "What is the capital of France, and how many people live there?";
/// With keywords and an optional property that not every provider knows.
const SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"city":{"type":"string"},"people":{"type":"integer","minimum":1},"mayor":{"type":"string"}},"required":["city","people"],"additionalProperties":false}"#;
const TOOL_SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
/// A picture of one point.
const IMAGE: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82";

/// What a request asks for.
#[derive(Clone, Copy, PartialEq)]
enum Case {
    Text,
    Schema,
    Tool,
    /// A model that takes only text must fail with a clear error.
    Image,
}

/// Makes eight requests and prints the answers. Fails if an answer is missing or does not have the requested format.
pub fn check(url: &str, model: &str) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut passed = true;
    for mode in [Mode::Whole, Mode::Stream] {
        for (case, name) in
            [(Case::Text, "text"), (Case::Schema, "schema"), (Case::Tool, "tool"), (Case::Image, "image")]
        {
            let result = runtime.block_on(ask(url, model, mode, case));
            passed &= result.is_ok();
            println!("{:<6}  {name:<6}  {}", mode.name(), result.unwrap_or_else(|error| format!("FAILED: {error}")));
        }
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn request(case: Case) -> Result<ModelRequest> {
    let mut question = Message::user(QUESTION);
    if case == Case::Image {
        question = Message::user("What is this?").with_attachments(vec![Attachment::bytes("image/png", IMAGE)]);
    }
    let request = ModelRequest::new(vec![Message::system("Answer in one sentence."), question], 80);
    Ok(match case {
        Case::Text | Case::Image => request,
        Case::Schema => {
            request.with_format(ResponseFormat::Schema { name: "city".to_owned(), schema: Value::parse(SCHEMA)? })
        }
        Case::Tool => {
            let tool = ToolDefinition {
                name: "population".to_owned(),
                description: "How many people live in a city.".to_owned(),
                schema: Value::parse(TOOL_SCHEMA)?,
            };
            request.with_tools(vec![tool], ToolChoice::Auto)
        }
    })
}

async fn ask(url: &str, model: &str, mode: Mode, case: Case) -> Result<String> {
    let mut target = Target::new("real", url, model);
    target.format = FormatSupport::Schema;
    target.streaming = if mode == Mode::Stream { Streaming::On } else { Streaming::Off };
    // Long enough for a model on a small machine.
    target.timeouts.total = Duration::from_secs(20 * 60);
    target.timeouts.first_byte = target.timeouts.total;
    target.timeouts.first_token = target.timeouts.total;
    let request = request(case)?;
    let (mut pieces, mut streamed) = (0, String::new());
    let mut on_delta = |delta: Delta<'_>| {
        pieces += 1;
        if let Delta::Text(text) = delta {
            streamed.push_str(text);
        }
    };
    let answer = Models::new(vec![target])?.ask(&"real".into(), &request, &mut on_delta).await;
    let answer = match answer {
        Err(failure) if case == Case::Image && failure.class == ErrorClass::ModelError => {
            return Ok(format!("a clear error: {failure}"));
        }
        answer => answer?,
    };
    let text = match &answer.tool_calls[..] {
        [call, ..] if case == Case::Tool => format!("{}{}", call.name, call.arguments),
        _ => answer.require_text()?.trim().to_owned(),
    };
    if streamed != answer.text {
        return Err(format!("the deltas are {streamed:?}, the answer is {:?}", answer.text).into());
    }
    if case == Case::Schema {
        let value = Value::parse(&text)?;
        let fits = value.as_object().is_some_and(|object| object.contains_key("city") && object.contains_key("people"));
        if !fits {
            return Err(format!("the answer does not fit the schema: {text}").into());
        }
    }
    let timings = answer.timings.ok_or("no timings")?;
    Ok(format!(
        "first byte {} ms, total {} ms, {pieces} pieces, {} + {} tokens ({:?}), {}, {:?}, {} skipped, {}: {text:?}",
        timings.first_byte_ms,
        timings.total_ms,
        answer.usage.input_tokens,
        answer.usage.output_tokens,
        answer.usage.source,
        answer.finish,
        answer.format_used,
        answer.skipped_events,
        answer.model,
    ))
}
