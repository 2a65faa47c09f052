//! `reknit test`: runs tests, or makes one.

mod record;
mod run;

pub(crate) use run::{folder_of, read_test};

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::output::Failure;
use crate::setup::block_on;

const DETAILS: &str = "\
Examples:
  reknit test record last -o tests/refund.yaml    make a test of the last run
  reknit test                                     run all tests in the folder `tests`
  reknit test tests/refund.yaml --junit report.xml
  reknit test --update                            review changed expectations, and write them

A test is a file with the request, the recorded answers of tools and models, and what is expected. It needs no network and
no API key, and time is virtual. A call that is not recorded fails the test. See docs/testing.md.

JSON (--json):
  {\"passed\", \"failed\", \"tests\": [{\"file\", \"passed\", \"took_ms\", \"mismatches\": [{\"what\", \"expected\", \"actual\"}], \"problems\"}]}

Exit status: 0 all tests passed, 1 a test failed, 2 nothing was tested: bad usage, or a file is not a test.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = DETAILS)]
pub(crate) struct TestArguments {
    #[command(subcommand)]
    command: Option<TestCommand>,
    #[command(flatten)]
    run: run::RunTestsArguments,
}

#[derive(Debug, Subcommand)]
enum TestCommand {
    /// Make a test of a run or a session
    Record(record::RecordArguments),
}

pub(crate) fn run(arguments: &TestArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(TestCommand::Record(arguments)) => block_on(record::run(arguments)),
        None => run::run(&arguments.run),
    }
}
