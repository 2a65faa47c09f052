//! A model writes a plan with bad arguments. Code mends what the schema and the error say; a model is asked only for the rest.
//!
//! Run it with `cargo run -p mend-a-bad-argument`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::protocol::Category;
use reknit::{ModelScript, Reknit, RunEventKind, ToolError};

/// The forecast of a city for some days.
#[reknit::tool(read, service = "weather")]
fn forecast(city: String, days: u32, unit: String) -> Result<String, ToolError> {
    let refuse = |message: &str| Err(ToolError::new("INVALID_FORMAT", message, Category::InputError));
    match (city.as_str(), unit.as_str()) {
        (_, other) if !["celsius", "fahrenheit"].contains(&other) => refuse("unit must be one of celsius, fahrenheit"),
        ("Seoul", unit) => Ok(format!("{days} days of sun, in {unit}")),
        (other, _) => refuse(&format!("there is no city `{other}`; write its English name")),
    }
}

/// As models write: a number in quotes, a unit in other letters, a name in another language.
const PLAN: &str = r#"{"steps": [{"step_id": "weather", "agent_name": "weather", "instruction": "the forecast", "metadata":
    {"capability": "forecast", "parameters": {"city": "Séoul", "days": "3", "unit": "Celsius"}}}]}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ModelScript::new()
        .answer(PLAN)
        .answer(
            r#"{"should_retry": true, "suggested_changes": {"city": "Seoul"}, "reason": "the English name is Seoul"}"#,
        )
        .answer("Three days of sun.");
    let reknit = Reknit::builder().tools([forecast()]).model_client(model.clone()).start().await?;
    let run = reknit.ask("What is the weather in Seoul for the next three days?");
    let mut events = run.events();
    while let Some(event) = events.next().await {
        if matches!(
            event.kind,
            RunEventKind::CallStarted(_) | RunEventKind::CallEnded { .. } | RunEventKind::Mended { .. }
        ) {
            println!("{event}");
        }
    }
    println!("{}", run.await?.text());
    println!("the model was asked {} times: for the plan, the city and the answer", model.requests().len());
    Ok(())
}
