//! The command line program `reknit`.

mod commands;
mod drive;
mod environment;
mod output;
mod setup;
#[cfg(test)]
mod test_run;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use commands::{Cli, Command};
use environment::os_variable;
use output::{
    Failure, error_columns, escape_controls, failure_json, failure_message, fill_help, hide_messages, output_columns,
    print_data, print_failure,
};
use setup::plan_file;

// JSON values are many small allocations; mimalloc is faster at these than the allocator of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match parse_arguments() {
        Ok((command, is_json)) => exit_code(command.run(), is_json),
        Err(code) => code,
    }
}

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
    parsed.map_err(|error| {
        let mut printed = print_parse_error(&error);
        if error.kind() == clap::error::ErrorKind::DisplayHelp
            && let Some(inputs) = plan_file::help_with_inputs(std::env::args_os())
        {
            printed &= print_data(&inputs).is_ok();
        }
        let code = u8::try_from(error.exit_code()).unwrap_or(2);
        ExitCode::from(if printed { code } else { 2 })
    })
}

/// Prints a help text or an error of the command line, broken between words if it goes to a terminal.
fn print_parse_error(error: &clap::Error) -> bool {
    let columns = if error.use_stderr() { error_columns() } else { output_columns() };
    let Some(columns) = columns else { return error.print().is_ok() };
    let is_plain = os_variable("NO_COLOR").is_some() || os_variable("TERM").is_some_and(|term| term == "dumb");
    let rendered = error.render();
    let text = if is_plain { rendered.to_string() } else { rendered.ansi().to_string() };
    let text = fill_help(&text, columns);
    if error.use_stderr() {
        print_failure(&text);
        return true;
    }
    print_data(&text).is_ok()
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
