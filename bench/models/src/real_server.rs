//! Checks our client with a real server: whole and streamed, with and without a schema.

use std::process::ExitCode;
use std::time::Duration;

use reknit_dialogue::{Delta, Message, ModelRequest, ResponseFormat};
use reknit_models::{FormatSupport, Models, Streaming, Target};
use reknit_protocol::Value;

use crate::{Mode, Result};

const QUESTION: &str = "What is the capital of France, and how many people live there?";
const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"people":{"type":"integer"}},"required":["city","people"],"additionalProperties":false}"#;

/// Makes four requests and prints the answers. Fails if an answer is missing or does not have the requested format.
pub fn check(url: &str, model: &str) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut passed = true;
    for mode in [Mode::Whole, Mode::Stream] {
        for with_schema in [false, true] {
            let result = runtime.block_on(ask(url, model, mode, with_schema));
            passed &= result.is_ok();
            let format = if with_schema { "schema" } else { "text" };
            println!("{:<6}  {format:<6}  {}", mode.name(), result.unwrap_or_else(|error| format!("FAILED: {error}")));
        }
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn ask(url: &str, model: &str, mode: Mode, with_schema: bool) -> Result<String> {
    let mut target = Target::new("real", url, model);
    target.format = FormatSupport::Schema;
    target.streaming = if mode == Mode::Stream { Streaming::On } else { Streaming::Off };
    // Long enough for a model on a small machine.
    target.timeouts.total = Duration::from_secs(20 * 60);
    target.timeouts.first_byte = target.timeouts.total;
    target.timeouts.first_token = target.timeouts.total;
    let mut request = ModelRequest::new(vec![Message::system("Answer in one sentence."), Message::user(QUESTION)], 80);
    if with_schema {
        request =
            request.with_format(ResponseFormat::Schema { name: "city".to_owned(), schema: Value::parse(SCHEMA)? });
    }
    let (mut pieces, mut streamed) = (0, String::new());
    let mut on_delta = |delta: Delta<'_>| {
        pieces += 1;
        if let Delta::Text(text) = delta {
            streamed.push_str(text);
        }
    };
    let answer = Models::new(vec![target])?.ask(&"real".into(), &request, &mut on_delta).await?;
    let text = answer.require_text()?.trim();
    if streamed != answer.text {
        return Err(format!("the deltas are {streamed:?}, the answer is {:?}", answer.text).into());
    }
    if with_schema {
        let value = Value::parse(text)?;
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
