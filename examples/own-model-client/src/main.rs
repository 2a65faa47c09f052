//! A model client of one's own: here it calls no server, but chooses the answer by the request. The first client is always busy, so
//! the second one is asked.
//!
//! Run it with `cargo run -p own-model-client`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::model_api::{ErrorClass, Message, ModelAnswer, ModelFailure, ModelRequest, Usage};
use reknit::models::{OnDelta, Target};
use reknit::{ModelClient, Reknit, RunEventKind};

/// The price of tea in euros.
#[reknit::tool(read)]
fn price(cups: u32) -> f64 {
    4.5 * f64::from(cups)
}

/// A client whose server is always busy.
struct Busy;

impl ModelClient for Busy {
    async fn ask(&self, _: &ModelRequest, _: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        Err(ModelFailure::new(ErrorClass::RateLimit, "come back later").with_status(429).with_retry_after_ms(60_000))
    }
}

/// A client that answers without a server.
struct Offline;

impl ModelClient for Offline {
    async fn ask(&self, request: &ModelRequest, _: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        // The tools are in the prompt of the planner, the results in the prompt for the answer.
        let is_plan = request.messages.iter().map(Message::text).any(|text| text.contains("step_id"));
        let text = if is_plan {
            r#"{"steps": [{"step_id": "tea", "agent_name": "functions", "instruction": "the price",
                "metadata": {"capability": "price", "parameters": {"cups": 3}}}]}"#
        } else {
            "Three cups cost 13.5 euros."
        };
        Ok(ModelAnswer::complete(text, "offline-1", Usage::reported(0, 0)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let builder = Reknit::builder().tools([price()]).model(Target::of_client("busy", Busy));
    let reknit = builder.model(Target::of_client("offline", Offline)).start().await?;
    let run = reknit.ask("What do three cups of tea cost?");
    let mut events = run.events();
    while let Some(event) = events.next().await {
        if matches!(event.kind, RunEventKind::ModelAsked { .. } | RunEventKind::ModelFailed { .. }) {
            println!("{event}");
        }
    }
    println!("{}", run.await?.text());
    Ok(())
}
