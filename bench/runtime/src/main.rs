//! Measures the driver beside LangGraph, and what a journalled step and a waiting run cost. `bench/README.md` says how to
//! run it.

mod append;
mod chain;
mod child;
mod machine;
mod median;
mod peer;
mod server;
mod skewed;
mod table;
mod waiting;
mod world;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use peer::LangGraph;
use server::Server;
use table::Table;
use world::World;

// What the command ships with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What went wrong, in words: there is nobody who could do anything about it but a reader.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: runtime-bench measure PRIVATE_FOLDER (or, for its own children: serve, waiting ...)";

#[tokio::main]
async fn main() -> ExitCode {
    // As the command does before it drives a run.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["measure", private] => measure(Path::new(private)).await,
        ["serve"] => server::serve().await.map(|()| ExitCode::SUCCESS),
        ["waiting", url, folder, runs, at_once] => {
            waiting::hold(url, Path::new(folder), runs, at_once).await.map(|()| ExitCode::SUCCESS)
        }
        _ => Err(USAGE.into()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("bench: {error}");
        ExitCode::FAILURE
    })
}

async fn measure(private: &Path) -> Result<ExitCode> {
    fs::create_dir_all(private)?;
    // Beside the peers and not in the folder for temporary files, which may be in memory: a journal is on a disk.
    let folder = tempfile::tempdir_in(private)?;
    let server = Server::start()?;
    let world = World::new(server.url(), folder.path()).await?;
    let mut langgraph = LangGraph::start(private, server.url(), folder.path())?;
    let mut table = Table::default();
    table.peer(langgraph.version());
    skewed::measure(&world, &mut langgraph, &mut table).await?;
    chain::measure(&world, &mut langgraph, &mut table, folder.path()).await?;
    append::measure(folder.path(), &mut table).await?;
    machine::measure(&world, &mut table)?;
    drop(langgraph);
    waiting::measure(private, server.url(), folder.path(), &mut table)?;
    print!("{table}");
    Ok(if table.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
