//! The command line: `reknit help`.

mod agent;
mod agent_files;
mod cli;
mod completions;
mod config;
mod demo;
mod drive;
mod eval;
mod excerpt;
mod explain;
mod failure;
mod find_model;
mod finish;
mod finish_report;
mod input;
mod jsonl;
mod models;
mod plan_check;
mod plan_file;
mod progress;
mod questions;
mod ready;
mod repair;
mod report;
mod runs;
mod schema_file;
mod screen;
mod show;
mod start;
mod telemetry;
mod tools_check;
mod turns;
mod work;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use reknit_runtime::config::Shown;

use cli::{Cli, Command, ConfigCommand, ModelsCommand, PlanCommand, ToolsCommand};

// A value is many small pieces of memory, and this hands them out and takes them back faster than the system does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Repair(arguments) => repair::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Eval(arguments) => eval::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Completions { shell } => completions::run(shell).map(|()| ExitCode::SUCCESS),
        Command::Ask { request, work, drive } => work::block_on(start::ask(&request, &work, &drive)),
        Command::Agent(arguments) => work::block_on(agent::run(&arguments)),
        Command::Run { plan, inputs, work, drive } => work::block_on(start::run(&plan, &inputs, &work, &drive)),
        Command::Runs(command) => work::block_on(runs::run(command)),
        Command::Models { command: None, models } => work::block_on(models::list(&models)),
        Command::Models { command: Some(ModelsCommand::Check { models }), .. } => {
            work::block_on(models::check(&models))
        }
        Command::Plan(PlanCommand::Check { file, tools, json, work }) => {
            work::block_on(plan_check::run(&file, tools.as_deref(), &work, json))
        }
        Command::Tools(ToolsCommand::Check { json, work }) => work::block_on(tools_check::run(&work, json)),
        Command::Config(ConfigCommand::Show { changed, json, answer, work }) => {
            let which = if changed { Shown::Set } else { Shown::All };
            config::show(&work, answer, which, json)
        }
        Command::Config(ConfigCommand::Reference) => config::reference(),
        Command::Demo { live, serve, work, drive } => work::block_on(demo::run(live, serve, &work, &drive)),
    };
    match done {
        Ok(code) => code,
        // Whoever reads the answer has seen enough of it, as in `reknit repair big.txt | head`.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // Nothing is left to be done when not even the error can be written.
            let _ = write!(std::io::stderr(), "{}", show::harmless(&report::report(&failure).to_string()));
            failure.exit_code()
        }
    }
}
