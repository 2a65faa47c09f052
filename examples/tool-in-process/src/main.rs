//! Functions of this program as tools: a plan calls them, and the second call uses the result of the first.
//!
//! Run it with `cargo run -p tool-in-process`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use reknit::plan::read_plan_file;
use reknit::protocol::Category;
use reknit::tool_service::CallContext;
use reknit::{Object, Reknit, ToolError};

/// The price of an article in euros.
#[reknit::tool(read, service = "shop")]
async fn price(
    /// The article, such as `tea`.
    article: String,
    count: u32,
) -> Result<f64, ToolError> {
    match article.as_str() {
        "tea" => Ok(4.5 * f64::from(count)),
        other => Err(ToolError::new("NO_SUCH_ARTICLE", format!("there is no `{other}`"), Category::NotFound)),
    }
}

/// Orders an article. With the context of its call, a function knows the idempotency key.
#[reknit::tool(keyed, service = "shop")]
async fn order(context: CallContext, article: String, euros: f64) -> String {
    let repeated = if context.idempotency_key().is_some() { "is done once" } else { "may be done twice" };
    format!("{article} for {euros} euros: a call that is repeated {repeated}")
}

const PLAN: &str = r#"
request: Order three cups of tea
steps:
  - {id: price, tool: shop/price, with: {article: tea, count: "3"}}    # the text is fitted to the type of the argument
  - {id: order, tool: shop/order, with: {article: tea, euros: "{{price.data}}"}}
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tools = [price(), order()];
    for tool in &tools {
        let announced = tool.definition().announcement();
        println!("{tool}: {}, {}", announced.effect, announced.description);
    }
    let reknit = Reknit::builder().tools(tools).start().await?;
    let (plan, _) = read_plan_file(PLAN)?;
    let answer = reknit.run_plan(plan, Object::new()).await?;
    for mend in answer.mends() {
        println!("{} was mended by {}: {}", mend.call, mend.rung.as_str(), mend.description);
    }
    println!("{}", answer.output::<String>()?);
    Ok(())
}
