//! Functions of this program as tools: a plan calls them, and the second call uses the result of the first.
//!
//! Run it with `cargo run -p function-as-tool`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::Reknit;
use reknit::engine::Synthesis;
use reknit::protocol::{Category, Object, Plan, SideEffect, Step, ToolError};
use reknit::runtime::DriveOutcome;
use reknit::toolkit::{CallContext, CapabilityDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The article, such as `tea`.
    article: String,
    count: u32,
}

#[derive(Serialize, JsonSchema)]
struct Price {
    total: f64,
}

/// A function with one argument is a tool.
async fn price(order: Order) -> Result<Price, ToolError> {
    match order.article.as_str() {
        "tea" => Ok(Price { total: 4.5 * f64::from(order.count) }),
        other => Err(ToolError::new("NO_SUCH_ARTICLE", format!("there is no `{other}`"), Category::NotFound)),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Amount {
    euros: f64,
}

/// With the context of its call, a function also knows the idempotency key.
async fn in_won(_: CallContext, amount: Amount) -> Result<f64, ToolError> {
    Ok(amount.euros * 1500.0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let in_won = CapabilityDefinition::new("in_won", SideEffect::Read, in_won).description("Converts euros to won");
    let reknit = Reknit::builder()
        .tool_fn("shop", "price", price)
        .tool_capability("shop", in_won)
        .answer_by(Synthesis::Raw)
        .start()
        .await?;
    for tool in &reknit.catalogue.tools {
        for entry in &tool.capabilities {
            println!("{}: {}", tool.key(entry), entry.capability.effect);
        }
    }
    // The count is a text: it is fitted to the type of the argument.
    let order = Object::from([("article", "tea".into()), ("count", "3".into())]);
    let euros = Object::from([("euros", "{{order.total}}".into())]);
    let steps = vec![
        Step::new("order", "shop", "price", "the price of three teas").with_parameters(order),
        Step::new("won", "shop", "in_won", "the same in won").with_parameters(euros),
    ];
    match reknit.run(Plan::new("plan-1", "What do three teas cost in won?", steps)).await? {
        DriveOutcome::Finished(answer) => println!("{}", answer.text),
        other => println!("{other:?}"),
    }
    Ok(())
}
