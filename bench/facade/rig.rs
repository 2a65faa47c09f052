use rig::prelude::*;
use rig::providers::openai::OpenAI;
use rig::rig_tool;
use rig::tool::ToolExecutionError;

/// The price of tea in euros.
#[rig_tool]
fn price(cups: u32) -> Result<f64, ToolExecutionError> {
    Ok(4.5 * f64::from(cups))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = AgentBuilder::new(OpenAI::from_env()?.chat("gpt-5-mini"))
        .preamble("Use price when asked about tea.")
        .tool(Price)
        .default_max_turns(2)
        .build();
    let response = agent.prompt("What do three cups of tea cost?").await?;
    println!("{}", response.output());
    Ok(())
}
