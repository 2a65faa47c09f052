//! Compares the driver with LangGraph, and measures the cost of a journalled step and of a waiting run. `bench/README.md`
//! says how to run it.

mod append;
mod chain;
#[path = "../../salvage/src/columns.rs"]
mod columns;
mod fixture;
mod langgraph;
mod line_process;
mod machine;
mod server;
mod skewed;
mod statistics;
mod synced_write;
mod table;
mod waiting;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use fixture::Fixture;
use langgraph::LangGraph;
use server::Server;
use table::Table;

// The allocator of the `reknit` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The error is only printed.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: runtime-bench measure PRIVATE_FOLDER | steps PRIVATE_FOLDER (internal: serve, waiting ...)";

#[tokio::main]
async fn main() -> ExitCode {
    // The `reknit` command does the same before it drives a run.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["measure", private] => measure(Path::new(private)).await,
        ["steps", private] => steps(Path::new(private)).await,
        ["serve"] => server::serve().await.map(|()| ExitCode::SUCCESS),
        ["waiting", url, folder, runs, at_once] => {
            waiting::hold(url, Path::new(folder), runs, at_once).await.map(|()| ExitCode::SUCCESS)
        }
        _ => Err(USAGE.into()),
    };
    result.unwrap_or_else(|error| {
        eprintln!("bench: {error}");
        ExitCode::FAILURE
    })
}

/// Measures only the steps with full durability, which takes a second.
async fn steps(private: &Path) -> Result<ExitCode> {
    fs::create_dir_all(private)?;
    let folder = tempfile::tempdir_in(private)?;
    let server = Server::start()?;
    let fixture = Fixture::new(server.url(), folder.path()).await?;
    let mut table = Table::default();
    synced_write::measure(&fixture, folder.path(), &mut table).await?;
    Ok(if table.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn measure(private: &Path) -> Result<ExitCode> {
    fs::create_dir_all(private)?;
    // Not in the folder for temporary files, which may be in memory: the journal must be on a disk.
    let folder = tempfile::tempdir_in(private)?;
    let server = Server::start()?;
    let fixture = Fixture::new(server.url(), folder.path()).await?;
    let mut langgraph = LangGraph::start(private, server.url(), folder.path())?;
    let mut table = Table::default();
    table.peer(langgraph.version());
    skewed::measure(&fixture, &mut langgraph, &mut table).await?;
    chain::measure(&fixture, &mut langgraph, &mut table).await?;
    synced_write::measure(&fixture, folder.path(), &mut table).await?;
    append::measure(folder.path(), &mut table).await?;
    machine::measure(&fixture, &mut table)?;
    drop(langgraph);
    waiting::measure(private, server.url(), folder.path(), &mut table)?;
    print!("{table}");
    Ok(if table.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
