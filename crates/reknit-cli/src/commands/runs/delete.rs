//! `reknit runs delete`.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;
use reknit_journal::{DeleteError, Deletion, RunSummary};

use super::open_run;
use crate::output::{Failure, one_line, print_message};
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

/// The width to which a request is cut, in columns.
const TITLE_COLUMNS: usize = 60;

pub(super) async fn run(arguments: &DeleteArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.files, &arguments.run).await?;
    let summary = journal.summary(&run).await.map_err(Failure::journal)?;
    if !arguments.yes && !confirm(&summary)? {
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

/// Asks at the terminal. Without one, `--yes` is needed.
fn confirm(run: &RunSummary) -> Result<bool, Failure> {
    let id = &run.run;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let hint = format!("type `reknit runs delete {id} --yes`");
        return Err(Failure::usage(format!("deleting run `{id}` needs a confirmation"), hint));
    }
    print_message(&format!(
        "run {id} ({}): {}\ndelete it, with everything that it recorded? [y/N] ",
        run.state(),
        one_line(&run.title, TITLE_COLUMNS)
    ));
    let mut answer = String::new();
    let input = |source| Failure::Input { input: crate::output::Input::Stdin, source };
    io::stdin().lock().read_line(&mut answer).map_err(input)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
