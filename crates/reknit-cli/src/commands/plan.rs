//! `reknit plan`: checks and draws plans.

mod check;
mod draw;

use std::process::ExitCode;

use clap::Subcommand;

use crate::output::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// List all problems of a plan, without running it
    Check(check::CheckArguments),
    /// Draw the steps of a plan or of a run, and which step needs which
    Draw(draw::DrawArguments),
}

pub(crate) async fn run(command: PlanCommand) -> Result<ExitCode, Failure> {
    match command {
        PlanCommand::Check(arguments) => check::run(&arguments).await,
        PlanCommand::Draw(arguments) => draw::run(&arguments).await,
    }
}
