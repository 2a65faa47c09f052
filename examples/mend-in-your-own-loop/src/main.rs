//! A program with its own loop over tool calls. It asks a `Mender` what to do about each call that fails, and decides itself.
//!
//! Run it with `cargo run -p mend-in-your-own-loop`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::{FailedCall, Mender, Mending, ModelScript, Object, Value};

const SCHEMA: &str = r#"{"type": "object", "required": ["city", "days"], "additionalProperties": false,
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#;

/// Any tool: it takes JSON and answers with a text, or with an error.
fn forecast(parameters: &Object) -> Result<String, String> {
    let days = parameters.get("days").and_then(Value::as_number).ok_or("days must be an integer")?;
    match parameters.get("city").and_then(Value::as_str) {
        Some("Seoul") => Ok(format!("{days} days of sun")),
        Some(city @ "Seul") => Err(format!("`{city}` is unknown: city must be one of Seoul, Busan")),
        city => Err(format!("unknown city: {}", city.unwrap_or_default())),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let advice =
        r#"{"should_retry": true, "suggested_changes": {"city": "Seoul"}, "reason": "SEL is the airport of Seoul"}"#;
    let mender = Mender::new().model_client(ModelScript::new().answer(advice)).model_calls(1);
    for text in
        [r#"{"city": "Seul", "days": "3"}"#, r#"{"city": "SEL", "days": 2}"#, r#"{"city": "Atlantis", "days": 1}"#]
    {
        let mut parameters = Value::parse(text)?.as_object().cloned().unwrap_or_default();
        for _ in 0..3 {
            let error = match forecast(&parameters) {
                Ok(answer) => {
                    println!("{parameters}: {answer}");
                    break;
                }
                Err(error) => error,
            };
            println!("{parameters}: {error}");
            let call = FailedCall::new("forecast", Value::parse(SCHEMA)?, parameters.clone(), &error);
            match mender.mend(&call.context("the weather in Seoul")).await? {
                Mending::Corrected(correction) => {
                    for fix in &correction.fixes {
                        println!("  {}: {}", fix.rung.as_str(), fix.description);
                    }
                    parameters = correction.parameters;
                }
                Mending::NotMended { reason } => {
                    println!("  not mended: {reason}");
                    break;
                }
                other => println!("  {other:?}"),
            }
        }
    }
    Ok(())
}
