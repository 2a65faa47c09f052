//! `reknit test`: runs tests, or makes one.

use std::process::ExitCode;

use crate::cli::{TestArguments, TestCommand};
use crate::failure::Failure;
use crate::{record_test, run_tests, setup};

/// Runs a `reknit test` command.
pub(crate) fn run(arguments: &TestArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(TestCommand::Record(arguments)) => setup::block_on(record_test::run(arguments)),
        None => run_tests::run(&arguments.run),
    }
}
