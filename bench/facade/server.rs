//! A model that calls the tool `price` once and then answers: `scripted-model [REPORT]`. Prints its base URL, and ends with its input.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answer = "Three cups cost 13.5 euros.";
    let (tool, last) = match std::env::args().nth(1) {
        Some(report) => (
            "functions__price",
            Reply::tool_call(report, format!("{{\"report_content\": \"{answer}\"}}")),
        ),
        None => ("price", Reply::text(answer)),
    };
    let script = Script::new()
        .once(
            RequestMatcher::any(),
            Reply::tool_call(tool, "{\"cups\": 3}"),
        )
        .on(RequestMatcher::any().says("13.5"), last);
    let model = ScriptedModel::start(script).await?;
    println!("{}", model.base_url());
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}
