//! A process dies during a call. The next one continues the run: what was done is not done again, and the call that was interrupted
//! is sent again under the same key.
//!
//! Run it with `cargo run -p resume-after-crash`. It prints `output.txt`.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use reknit::plan::read_plan_file;
use reknit::tool_service::CallContext;
use reknit::{Object, Reknit};

/// Counts the articles on stock.
#[reknit::tool(read, service = "shop")]
fn stock() -> u32 {
    println!("stock is counted in the {} process", process());
    7
}

/// Orders articles.
#[reknit::tool(keyed, service = "shop")]
fn order(context: CallContext, count: u32) -> String {
    let has_key = context.idempotency_key().is_some();
    println!("order is sent by the {} process, with a key: {has_key}", process());
    if process() == "first" {
        std::process::abort();
    }
    format!("{count} are ordered")
}

const PLAN: &str = r#"
request: Order as many as there are
steps:
  - {id: stock, tool: shop/stock}
  - {id: order, tool: shop/order, with: {count: "{{stock.data}}"}}
"#;

/// The first process is started with the path of the journal.
fn process() -> &'static str {
    if env::args().len() > 1 { "first" } else { "second" }
}

async fn start(journal: &Path) -> Result<Reknit, Box<dyn Error>> {
    Ok(Reknit::builder().tools([stock(), order()]).journal(journal).start().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(journal) = env::args().nth(1) {
        let reknit = start(&PathBuf::from(journal)).await?;
        reknit.run_plan(read_plan_file(PLAN)?.0, Object::new()).await?;
        return Ok(());
    }
    let folder = env::temp_dir().join(format!("resume-after-crash-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let journal = folder.join("runs.db");
    let status = Command::new(env::current_exe()?).arg(&journal).status()?;
    println!("the first process died: {}", !status.success());
    let reknit = start(&journal).await?;
    for run in reknit.resume_unfinished().await? {
        println!("{}", run.await?.output::<String>()?);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
