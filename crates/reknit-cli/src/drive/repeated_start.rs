//! What a command with `--run-id` does if it was run before.

use std::process::ExitCode;

use jiff::Timestamp;
use reknit_engine::RequestDigest;
use reknit_journal::{Journal, Liveness, RunSummary};
use reknit_runtime::operations::{self, FoundRun};
use reknit_runtime::{DriveError, system_ms};

use super::{Advance, advance, print_outcome};
use crate::output::{Failure, exit_code_of, print_message};
use crate::setup::{DriveArguments, RunIdArgument, Setup, SetupArguments, open_journal, pruned_words};

/// Continues the run of `--run-id` if there is one, before anything is asked of tools and models: the outcome of a run that has
/// ended is there even if they are not. `None` if the run is to be started.
pub(crate) async fn continue_started(
    id: &RunIdArgument,
    request: &RequestDigest,
    setup: &SetupArguments,
    drive: &DriveArguments,
) -> Result<Option<ExitCode>, Failure> {
    let Some(run) = &id.run_id else { return Ok(None) };
    let journal = open_journal(&setup.files)?;
    if let Some(pruned) = journal.pruned_run(run).await.map_err(Failure::journal)? {
        if pruned.request.as_deref() != Some(request.as_str()) {
            return Err(DriveError::other_request(run, pruned.request, request).into());
        }
        print_message(&format!("note: {}; nothing is done again\n", pruned_words(&pruned)));
        return Ok(Some(exit_code_of(&pruned.status)));
    }
    let Some(summary) = operations::started_before(&journal, None, run, request).await? else { return Ok(None) };
    print_message(&note(&summary));
    let saved = match operations::resumable(&journal, run, system_ms()).await? {
        FoundRun::Ended(outcome) => return print_outcome(run, &outcome, drive).map(Some),
        FoundRun::Open(machine) => machine,
    };
    let setup = Setup::to_continue(&saved, setup, drive).await?;
    advance(&setup, run, Advance::Join, drive).await.map(Some)
}

/// Says what follows if the run of `--run-id` was started before.
pub(crate) async fn note_if_started(journal: &Journal, id: &RunIdArgument) -> Result<(), Failure> {
    let Some(run) = &id.run_id else { return Ok(()) };
    if journal.exists(run).await.map_err(Failure::journal)? {
        print_message(&note(&journal.summary(run).await.map_err(Failure::journal)?));
    }
    Ok(())
}

/// What follows, for a person who did not expect it.
fn note(run: &RunSummary) -> String {
    let id = &run.run;
    let started = Timestamp::from_millisecond(run.created_ms)
        .map_or_else(|_| "before".to_owned(), |at| format!("on {}", at.strftime("%Y-%m-%d at %H:%M UTC")));
    let now = match (&run.status, &run.lease) {
        (Some(_), _) => "nothing is done again, and this is its outcome".to_owned(),
        (None, Some(lease)) if lease.holder.liveness() != Liveness::Dead => {
            format!("{} drives it, and this waits for its outcome", lease.holder)
        }
        (None, _) => "it is continued".to_owned(),
    };
    format!("note: run `{id}` was started {started}: {now}\n")
}
