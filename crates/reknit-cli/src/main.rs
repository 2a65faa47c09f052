//! The command line program `reknit`.

mod agent;
mod agent_files;
mod agent_start;
mod approval_dialogue;
mod approval_edit;
mod approvals;
mod attach;
mod callbacks;
mod chat;
mod cli;
mod completions;
mod config;
mod config_file;
mod demo;
mod demo_call;
mod doctor;
mod drive;
mod end_signals;
mod environment;
mod eval;
mod event_output;
mod excerpt;
mod explain;
mod failure;
mod failure_message;
mod find_model;
mod graph_text;
mod init;
mod input;
mod keys;
mod last_targets;
#[cfg(feature = "serve")]
mod mcp;
mod models;
mod plan_agents;
mod plan_check;
mod plan_draw;
mod plan_file;
mod plan_only;
mod print;
mod print_answer;
mod print_report;
mod progress;
mod provenance_text;
mod questions;
mod read_input;
mod record_test;
mod repair;
mod repeated_start;
mod rules;
mod run_chaos;
mod run_tests;
mod runs;
mod saved_run;
mod schema_file;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod server_setup;
mod setup;
mod start;
mod telemetry;
mod terminal_size;
mod terminal_text;
mod test_command;
#[cfg(feature = "serve")]
mod token_file;
#[cfg(feature = "serve")]
mod tokens;
mod tools;
mod trust;
mod usage;
mod word_wrap;
#[cfg(feature = "restate")]
mod worker;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use reknit_runtime::config::ShowSettings;

use cli::{Cli, Command, ConfigCommand, PlanCommand};
use failure::Failure;
use failure_message::{failure_json, failure_message};
use print::{hide_messages, print_data, print_failure};
use terminal_size::{error_columns, output_columns};
use terminal_text::escape_controls;
use word_wrap::fill_help;

// JSON values are many small allocations; mimalloc is faster at these than the allocator of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Parses the arguments into the command and whether it prints JSON, or prints the help or the error. The help of
/// `reknit run PLAN` lists the inputs of the plan.
fn parse_arguments() -> Result<(Command, bool), ExitCode> {
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        let is_json = has_flag(&matches, "json") || has_flag(&matches, "live_events");
        if has_flag(&matches, "quiet") {
            hide_messages();
        }
        Ok((Cli::from_arg_matches(&matches)?.command, is_json))
    });
    let error = match parsed {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let mut printed = print_parse_error(&error);
    if error.kind() == clap::error::ErrorKind::DisplayHelp
        && let Some(inputs) = plan_file::help_with_inputs(std::env::args_os())
    {
        printed &= print_data(&inputs).is_ok();
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    Err(ExitCode::from(if printed { code } else { 2 }))
}

/// Prints a help text or an error of the command line, broken between words if it goes to a terminal.
fn print_parse_error(error: &clap::Error) -> bool {
    let columns = if error.use_stderr() { error_columns() } else { output_columns() };
    let Some(columns) = columns else { return error.print().is_ok() };
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let rendered = error.render();
    let text = if is_plain { rendered.to_string() } else { rendered.ansi().to_string() };
    let text = fill_help(&text, columns);
    if error.use_stderr() {
        print_failure(&text);
        return true;
    }
    print_data(&text).is_ok()
}

fn main() -> ExitCode {
    let (command, is_json) = match parse_arguments() {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let result = match command {
        Command::Repair(arguments) => repair::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Eval(arguments) => eval::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Completions { shell } => completions::run(shell).map(|()| ExitCode::SUCCESS),
        Command::Ask { request, attach, plan, id, metadata, setup, drive } if plan.only => {
            setup::block_on(plan_only::run((&request, &attach), plan.file.as_deref(), (&id, &metadata), &setup, &drive))
        }
        Command::Ask { request, attach, plan: _, id, metadata, setup, drive } => {
            setup::block_on(start::ask((&request, &attach), (&id, &metadata), &setup, &drive))
        }
        Command::Init(arguments) => setup::block_on(init::run(&arguments)),
        Command::Chat(arguments) => setup::block_on(chat::run(&arguments)),
        Command::Agent(arguments) => setup::block_on(agent::run(&arguments)),
        Command::Run { plan, inputs, id, metadata, setup, drive } => {
            setup::block_on(start::run(&plan, &inputs, (&id, &metadata), &setup, &drive))
        }
        Command::Test(arguments) => test_command::run(&arguments),
        Command::Chaos(arguments) => setup::block_on(run_chaos::run(&arguments)),
        Command::ChaosProcess { journal } => run_chaos::drive_child(&journal),
        Command::Runs(command) => setup::block_on(runs::run(command)),
        Command::Keys(command) => setup::block_on(keys::run(command)),
        Command::Rules(command) => setup::block_on(rules::run(command)),
        Command::Models { command, models } => setup::block_on(models::run(command, &models)),
        Command::Plan(PlanCommand::Check { file, tools, json, setup }) => {
            setup::block_on(plan_check::run(&file, tools.as_deref(), &setup, json))
        }
        Command::Plan(PlanCommand::Draw(arguments)) => setup::block_on(plan_draw::run(&arguments)),
        Command::Callbacks(command) => setup::block_on(callbacks::run(&command)),
        #[cfg(feature = "serve")]
        Command::Mcp(arguments) => setup::block_on(mcp::run(&arguments)),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => setup::block_on(serve::run(&arguments)),
        #[cfg(feature = "restate")]
        Command::Worker(arguments) => setup::block_on(worker::run(&arguments)),
        #[cfg(feature = "serve")]
        Command::Tokens(command) => tokens::run(&command),
        Command::Tools(command) => setup::block_on(tools::run(command)),
        Command::Config(ConfigCommand::Show { changed, json, answer, setup }) => {
            let which = if changed { ShowSettings::Changed } else { ShowSettings::All };
            config::show(&setup, answer, which, json)
        }
        Command::Doctor(arguments) => setup::block_on(doctor::run(&arguments)),
        Command::Trust(arguments) => trust::run(&arguments),
        Command::Config(ConfigCommand::Reference) => config::reference(),
        Command::Demo { call: Some(capability), .. } => setup::block_on(demo_call::run(&capability)),
        Command::Demo { live, serve, call: None, id, setup, drive } => {
            setup::block_on(demo::run(live, serve, &id, &setup, &drive))
        }
    };
    exit_code(result, is_json)
}

/// The exit code of a command. Prints why it failed.
fn exit_code(result: Result<ExitCode, Failure>, is_json: bool) -> ExitCode {
    match result {
        Ok(code) => code,
        // The reader closed the output, as in `reknit repair big.txt | head`.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            let is_printed = is_json && print_data(&format!("{}\n", failure_json(&failure))).is_ok();
            if !is_printed {
                print_failure(&escape_controls(&failure_message(&failure)));
            }
            ExitCode::from(failure.exit_status())
        }
    }
}

/// Whether the command, or a command inside of it, has this flag. With `--json` and `--events`, errors are JSON too.
fn has_flag(matches: &ArgMatches, flag: &str) -> bool {
    let of_command = matches.try_get_one::<bool>(flag).ok().flatten().copied();
    of_command.unwrap_or_default() || matches.subcommand().is_some_and(|(_, matches)| has_flag(matches, flag))
}
