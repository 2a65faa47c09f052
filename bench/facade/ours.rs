use reknit::{Reknit, models::Target};

/// The price of tea in euros.
#[reknit::tool(read)]
fn price(cups: u32) -> f64 {
    4.5 * f64::from(cups)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Target::new("main", &std::env::var("OPENAI_BASE_URL")?, "gpt-5-mini");
    let reknit = Reknit::builder()
        .tools([price()])
        .model(model)
        .start()
        .await?;
    let prompt = "Use price when asked about tea.";
    let run = reknit.agent(prompt, "What do three cups of tea cost?")?;
    println!("{}", run.await?.text());
    Ok(())
}
