//! A plan with inputs and outputs over two functions.
//!
//! Run it with `cargo run -p hello-plan`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::collections::BTreeMap;
use std::error::Error;

use reknit::plan::read_plan_file;
use reknit::{Object, Reknit};

/// The price of tea in euros.
#[reknit::tool(read)]
fn price(cups: u32) -> f64 {
    4.5 * f64::from(cups)
}

/// Converts euros to won.
#[reknit::tool(read)]
fn in_won(euros: f64) -> f64 {
    euros * 1500.0
}

const PLAN: &str = r#"
request: What does tea cost in won?
inputs:
  cups: {type: integer}
steps:
  - {id: tea, tool: functions/price, with: {cups: "{{inputs.cups}}"}}
  - {id: won, tool: functions/in_won, with: {euros: "{{tea.data}}"}}
outputs:
  euros: "{{tea.data}}"
  won: "{{won.data}}"
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let reknit = Reknit::builder().tools([price(), in_won()]).start().await?;
    let (plan, _) = read_plan_file(PLAN)?;
    let answer = reknit.run_plan(plan, Object::from([("cups", 3.into())])).await?;
    let outputs: BTreeMap<String, f64> = answer.output()?;
    println!("{outputs:?}");
    println!("{}", answer.text());
    Ok(())
}
