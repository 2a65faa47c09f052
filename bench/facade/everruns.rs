use everruns::{Agent, Engine, OpenAI};

/// The price of tea in euros.
#[everruns::tool]
async fn price(cups: u32) -> Result<f64, String> {
    Ok(4.5 * f64::from(cups))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::builder()
        .name("assistant")
        .instructions("Use price when asked about tea.")
        .provider(OpenAI::from_env()?)
        .model("gpt-5-mini")
        .tool(price())
        .build()?;
    let session = Engine::new().create(agent);
    let turn = session
        .send_and_wait("What do three cups of tea cost?")
        .await?;
    println!("{}", turn.response);
    Ok(())
}
