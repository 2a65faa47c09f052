//! An agent works in turns: it calls tools, and ends with a report that fits a schema.
//!
//! Run it with `cargo run -p agent-with-report`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::collections::BTreeMap;
use std::error::Error;

use reknit::{ModelScript, Reknit, RunEventKind, Value};

/// Where an order is.
#[reknit::tool(read, service = "orders")]
fn track(order: u32) -> String {
    format!("order {order} is in Busan and arrives on Monday")
}

const AGENT: &str = "---
description: finds out where orders are
maxTurns: 4
output:
  format: json
  schema: {type: object, required: [place, day], properties: {place: {type: string}, day: {type: string}}}
---
You work for a shop. Say where an order is, and when it arrives.
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let report =
        r#"{"status": "success", "report_format": "json", "content_json": {"place": "Busan", "day": "Monday"}}"#;
    let model =
        ModelScript::new().call("orders__track", &Value::parse(r#"{"order": 7}"#)?).report(&Value::parse(report)?);
    let reknit = Reknit::builder().tools([track()]).model_client(model).start().await?;
    let run = reknit.agent(AGENT, "Where is order 7?")?;
    let mut events = run.events();
    while let Some(event) = events.next().await {
        if !matches!(event.kind, RunEventKind::Other(_)) {
            println!("{event}");
        }
    }
    let report: BTreeMap<String, String> = run.await?.output()?;
    println!("{report:?}");
    Ok(())
}
