//! A rule says that a person approves payments over 100. The run waits for the decision; here the program decides.
//!
//! Run it with `cargo run -p approve-a-step`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::engine::ApprovalRule;
use reknit::plan::read_plan_file;
use reknit::{Decision, Object, Reknit};

/// Pays an amount.
#[reknit::tool(keyed, service = "bank")]
fn pay(amount: f64) -> String {
    format!("{amount} euros are paid")
}

const PLAN: &str = r#"
request: Pay the bill
inputs:
  amount: {type: number}
steps:
  - {id: pay, tool: bank/pay, with: {amount: "{{inputs.amount}}"}}
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rule =
        ApprovalRule { capability: Some("bank/pay".to_owned()), when: Some("amount > 100".to_owned()), class: None };
    let reknit = Reknit::builder().tools([pay()]).configure(|config| config.approve(rule)).start().await?;
    for amount in [20, 150, 9_000] {
        let run = reknit.run_plan(read_plan_file(PLAN)?.0, Object::from([("amount", amount.into())]));
        for question in run.questions().await? {
            let Some(call) = question.question.call() else { continue };
            println!("approve {} with {}?", call.capability, call.parameters);
            let decision = if amount < 1_000 {
                Decision::Approve
            } else {
                Decision::Deny { reason: Some("that is too much".to_owned()) }
            };
            run.decide(&question, decision).await?;
        }
        match run.await {
            Ok(answer) => println!("{}", answer.output::<String>()?),
            Err(error) => {
                for step in error.failure().iter().flat_map(|failure| &failure.steps) {
                    println!("not paid: {}", step.reason);
                }
            }
        }
    }
    Ok(())
}
