//! `reknit runs delete`.

use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;
use reknit_journal::{DeleteError, Deletion};

use super::open_run;
use crate::output::{Failure, Questions, one_line, print_message};
use crate::setup::{FileArguments, RunArgument};

#[derive(Debug, Args)]
pub(crate) struct DeleteArguments {
    #[command(flatten)]
    run: RunArgument,
    /// Delete without a question
    #[arg(long)]
    yes: bool,
    /// Delete the run even if it has not ended; calls that it has made are not undone
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    files: FileArguments,
}

const TITLE_COLUMNS: usize = 60;

pub(super) async fn run(arguments: &DeleteArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.files, &arguments.run).await?;
    let summary = journal.summary(&run).await.map_err(Failure::journal)?;
    let title = one_line(&summary.title, TITLE_COLUMNS);
    let question = format!("run {run} ({}): {title}\ndelete it, with everything that it recorded?", summary.state());
    let hint = format!("type `reknit runs delete {run} --yes`");
    if !Questions::new(arguments.yes).confirm(&question, &hint)? {
        print_message("nothing was deleted\n");
        return Ok(ExitCode::FAILURE);
    }
    let deletion = if arguments.force { Deletion::Unfinished } else { Deletion::Ended };
    let deleted = journal.delete(&run, deletion, Timestamp::now().as_millisecond()).await;
    deleted.map_err(|error| match &error {
        DeleteError::Held { run, .. } => {
            Failure::usage(error.to_string(), format!("cancel it with `reknit runs cancel {run}`, then delete it"))
        }
        DeleteError::Unfinished(run) => Failure::usage(
            error.to_string(),
            format!("cancel it with `reknit runs cancel {run}`, or delete it with `--force`: its calls are not undone"),
        ),
        DeleteError::NoSuchRun(_) | DeleteError::Storage(_) => Failure::journal(error),
    })?;
    print_message(&format!("deleted run {run}; its id stays in use\n"));
    Ok(ExitCode::SUCCESS)
}
