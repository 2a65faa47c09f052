//! The events of a run and the text of its answer as streams. A reader that was away goes on from its cursor.
//!
//! Run it with `cargo run -p stream-events`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::{EventCursor, ModelScript, Reknit, RunEventKind, TextPiece};

/// The price of tea in euros.
#[reknit::tool(read)]
fn price(cups: u32) -> f64 {
    4.5 * f64::from(cups)
}

const PLAN: &str = r#"{"steps": [{"step_id": "tea", "agent_name": "functions", "instruction": "the price", "metadata":
    {"capability": "price", "parameters": {"cups": 3}}}]}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ModelScript::new().answer(PLAN).answer("Three cups cost 13.5 euros.");
    let reknit = Reknit::builder().tools([price()]).model_client(model).start().await?;
    let run = reknit.ask("What do three cups of tea cost?");

    let mut cursor = EventCursor::default();
    let mut events = run.events();
    while let Some(event) = events.next().await {
        println!("{event}");
        cursor = event.cursor;
        if matches!(event.kind, RunEventKind::PlanAccepted { .. }) {
            break;
        }
    }
    println!("-- the reader was away, and goes on after event {}", cursor.0);
    let mut events = run.events_after(cursor);
    while let Some(event) = events.next().await {
        if !matches!(event.kind, RunEventKind::Other(_)) {
            println!("{event}");
        }
    }
    println!("-- the text, piece by piece");
    let mut text = run.text();
    while let Some(piece) = text.next().await {
        match piece {
            TextPiece::Text(text) => println!("{text:?}"),
            _ => println!("the text starts over"),
        }
    }
    Ok(())
}
