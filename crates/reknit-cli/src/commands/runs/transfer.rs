//! `reknit runs export` and `reknit runs import`: runs as JSON lines.

use std::path::Path;
use std::process::ExitCode;

use reknit_protocol::error_chain;
use reknit_runtime::{ExportFilter, ImportError, export, import};

use super::{open_run, term_now};
use crate::output::{Failure, Input, print_data, print_message};
use crate::setup::{FileArguments, RunArgument, open_journal};

pub(super) const EXPORT_DETAILS: &str = "\
Values whose name says that they are secret, and texts that look like API keys, are replaced. The texts that models wrote are only
printed if LLM debugging was enabled for the run (`[llm-debug] enabled`).

Example:
  reknit runs export last > run.jsonl && reknit runs import --journal other.db run.jsonl";

const MAX_BYTES: usize = 1 << 30;

/// Prints a run: as others may see it, or everything.
pub(super) async fn export_run(
    files: &FileArguments,
    run: &RunArgument,
    unredacted: bool,
) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(files, run).await?;
    let mut filter = ExportFilter::default();
    export::<Failure>(&journal, &run, false, |line| {
        print_data(&(if unredacted { line } else { filter.line(&line) } + "\n"))
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the runs of a file to the journal.
pub(super) async fn import_runs(files: &FileArguments, file: &Path) -> Result<ExitCode, Failure> {
    let text = Input::new(Some(file)).read_regular_up_to(MAX_BYTES)?;
    let journal = open_journal(files)?;
    let imported = import(&journal, &text, term_now()).await.map_err(|error| failure(&error))?;
    for run in &imported {
        print_data(&format!("{run}\n"))?;
    }
    match imported.as_slice() {
        [] => print_message("the file has no runs\n"),
        [run, ..] => print_message(&format!("\nhint: see what happened with `reknit runs explain {run}`\n")),
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(error: &ImportError) -> Failure {
    let hint = match error {
        ImportError::NotExported { .. } | ImportError::OutOfOrder { .. } | ImportError::InvalidId { .. } => {
            "write the file with `reknit runs export RUN > run.jsonl`".to_owned()
        }
        ImportError::NotEnded { run } => format!("end it there, with `reknit runs resume {run}`, and export it again"),
        ImportError::Create { run, .. } => format!("see the run that is there with `reknit runs show {run}`"),
    };
    Failure::usage(error_chain(error), hint)
}
