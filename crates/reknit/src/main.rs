//! The command line: `reknit help`.

mod cli;
mod completions;
mod excerpt;
mod explain;
mod failure;
mod input;
mod jsonl;
mod repair;
mod report;
mod schema_file;
mod show;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

// A value is many small pieces of memory, and this hands them out and takes them back faster than the system does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Repair(arguments) => repair::run(&arguments),
        Command::Completions { shell } => completions::run(shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the answer has seen enough of it, as in `reknit repair big.txt | head`.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // Nothing is left to be done when not even the error can be written.
            let _ = write!(std::io::stderr(), "{}", report::report(&failure));
            failure.exit_code()
        }
    }
}
