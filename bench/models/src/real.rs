//! The client against a real server: in one piece and as a stream, with and without a schema.

use std::process::ExitCode;
use std::time::Duration;

use reknit_dialogue::{Delta, Format, Message, Request};
use reknit_models::{FormatSupport, Models, Streaming, Target};
use reknit_protocol::Value;

use crate::{Mode, Result};

const QUESTION: &str = "What is the capital of France, and how many people live there?";
const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"people":{"type":"integer"}},"required":["city","people"],"additionalProperties":false}"#;

/// Asks four times and prints what came. Ends with 1 if one answer is none, or is not of the form that was asked for.
pub fn real(url: &str, model: &str) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut well = true;
    for mode in [Mode::Whole, Mode::Stream] {
        for with_schema in [false, true] {
            let asked = runtime.block_on(ask(url, model, mode, with_schema));
            well &= asked.is_ok();
            let form = if with_schema { "schema" } else { "text" };
            println!("{:<6}  {form:<6}  {}", mode.word(), asked.unwrap_or_else(|error| format!("FAILED: {error}")));
        }
    }
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn ask(url: &str, model: &str, mode: Mode, with_schema: bool) -> Result<String> {
    let mut target = Target::new("real", url, model);
    target.format = FormatSupport::Schema;
    target.streaming = if mode == Mode::Stream { Streaming::On } else { Streaming::Off };
    // A small machine takes its time.
    target.limits.total = Duration::from_secs(20 * 60);
    target.limits.first_byte = target.limits.total;
    target.limits.first_token = target.limits.total;
    let mut request = Request::new(vec![Message::system("Answer in one sentence."), Message::user(QUESTION)], 80);
    if with_schema {
        request = request.with_format(Format::Schema { name: "city".to_owned(), schema: Value::parse(SCHEMA)? });
    }
    let (mut pieces, mut told) = (0, String::new());
    let mut tell = |delta: Delta<'_>| {
        pieces += 1;
        if let Delta::Text(words) = delta {
            told.push_str(words);
        }
    };
    let answer = Models::new(vec![target])?.ask(&"real".into(), &request, &mut tell).await?;
    let text = answer.words()?.trim();
    if told != answer.text {
        return Err(format!("told {told:?}, answered {:?}", answer.text).into());
    }
    if with_schema {
        let value = Value::parse(text)?;
        let fits = value.as_object().is_some_and(|object| object.contains_key("city") && object.contains_key("people"));
        if !fits {
            return Err(format!("not of the form: {text}").into());
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
