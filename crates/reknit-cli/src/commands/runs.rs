//! `reknit runs`: lists, shows, explains, compares, resumes, forks, cancels, approves, denies, deletes and prunes runs.

mod bare;
mod compare;
mod current_state;
mod decide;
mod delete;
mod explain;
mod fork;
mod list;
mod llm;
mod prune;
mod resume_all;
mod session;
mod show;
mod started_with;
mod stats;
mod step_history;
mod transfer;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use reknit_journal::{Journal, LeaseTerm, Liveness};
use reknit_protocol::{RunId, parse_human_duration};
use reknit_runtime::operations::{self, CancelOutcome, FoundRun};
use reknit_runtime::{Changes, DriveError, bare_overview, system_ms};

use crate::drive::{self, Advance};
use crate::output::{Failure, print_message, print_warning};
use crate::setup::{DriveArguments, FileArguments, RunArgument, Setup, SetupArguments, find_run, open_journal};
pub(crate) use llm::{Reader, reader_of};

/// The columns that a value or a text gets where a run is shown.
const VALUE_COLUMNS: usize = 160;

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first
    List(list::ListArguments),
    /// Show a run: each step, its attempts, its parameters and where they come from
    Show(show::ShowArguments),
    /// Explain a run in plain words: what was asked and done, what failed and was mended, what is missing, who decided, what it cost
    Explain(explain::ExplainArguments),
    /// Show where a run differs from another one: status, parameters, results, repairs, the answer, calls and cost
    Compare(compare::CompareArguments),
    /// Print what is stored about a run as JSON lines, without secrets: its events, and its answer or report
    #[command(after_help = transfer::EXPORT_DETAILS)]
    Export {
        #[command(flatten)]
        run: RunArgument,
        /// Print everything: also secrets, and the texts of models
        #[arg(long)]
        unredacted: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Add ended runs that `runs export` printed to the journal, to look at them
    Import {
        /// The JSON lines; `-` reads standard input
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Count what fails and what mends it, by tool, class of failure and rung
    Stats(stats::StatsArguments),
    /// Continue a run that stopped or waited, or all of them
    Resume(ResumeArguments),
    /// Try the failed and skipped steps of a run again; done steps stay done
    #[command(after_help = RETRY_DETAILS)]
    Retry(ContinueArguments),
    /// Run on from any point of a run with something changed, on its recorded answers before that point, and compare the two
    Fork(Box<fork::ForkArguments>),
    /// End a parked run, which this build cannot continue; its events are kept
    Close {
        #[command(flatten)]
        run: RunArgument,
        /// Why it is closed
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Cancel a run; calls in progress may still complete
    Cancel(ContinueArguments),
    /// Approve the calls that a run waits for
    Approve(decide::ApproveArguments),
    /// Deny the calls that a run waits for
    #[command(visible_alias = "reject")]
    Deny(decide::DenyArguments),
    /// Say what became of a call that may have taken effect, instead of sending it again
    Settle(decide::SettleArguments),
    /// Delete a run; its id stays in use
    Delete(delete::DeleteArguments),
    /// Remove old runs that have ended, and make the journal smaller
    Prune(prune::PruneArguments),
}

const RESUME_DETAILS: &str = "\
With --all, runs that a process left, and those that wait and for which there is a decision, are continued, several at a time.
The outcome of each is one line.

Exit status: that of `reknit ask`; with --all 0 if every run is complete, 6 if the others wait for approval, otherwise 1.";

const RETRY_DETAILS: &str = "\
The run must have ended as partial, as failed or at a limit. It goes on in the same journal: its limits count anew, failed and
skipped steps are tried again, and results stay. A call that may have taken effect is sent again under the same idempotency key; if
its side effect is unsafe, only after a check or your approval. Sessions cannot be retried.

Exit status: that of `reknit ask`.";

pub(super) fn duration_ms(text: &str) -> Result<u64, String> {
    parse_human_duration(text).ok_or_else(|| "write a time with its unit, like `30d` or `12h`".to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = RESUME_DETAILS)]
pub(crate) struct ResumeArguments {
    /// The id of the run, its short form in `runs list`, or `last`
    #[arg(value_name = "RUN", required_unless_present = "all")]
    run: Option<String>,
    /// Continue every run that a process left, and every one that waits and for which there is a decision
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// How many runs are driven at the same time with `--all`
    #[arg(long, value_name = "N", default_value_t = 8, requires = "all", value_parser = clap::value_parser!(u32).range(1..))]
    at_once: u32,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    drive: DriveArguments,
    /// Continue a parked run from what this build decides for its events, although it decided otherwise before
    #[arg(long, conflicts_with = "all")]
    accept_changes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ContinueArguments {
    #[command(flatten)]
    run: RunArgument,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    drive: DriveArguments,
}

pub(crate) async fn run(command: RunsCommand) -> Result<ExitCode, Failure> {
    match command {
        RunsCommand::List(arguments) => list::run(&arguments).await,
        RunsCommand::Show(arguments) => show::run(&arguments).await,
        RunsCommand::Explain(arguments) => explain::run(&arguments).await,
        RunsCommand::Compare(arguments) => compare::run(&arguments).await,
        RunsCommand::Export { run, unredacted, journal } => transfer::export_run(&journal, &run, unredacted).await,
        RunsCommand::Import { file, journal } => transfer::import_runs(&journal, &file).await,
        RunsCommand::Stats(arguments) => stats::run(&arguments).await,
        RunsCommand::Resume(arguments) => Box::pin(resume(&arguments)).await,
        RunsCommand::Retry(arguments) => Box::pin(retry(&arguments)).await,
        RunsCommand::Fork(arguments) => Box::pin(fork::run(&arguments)).await,
        RunsCommand::Close { run, reason, journal } => close(&journal, &run, &reason).await,
        RunsCommand::Cancel(arguments) => Box::pin(cancel(&arguments)).await,
        RunsCommand::Approve(arguments) => decide::approve(&arguments).await,
        RunsCommand::Deny(arguments) => decide::deny(&arguments).await,
        RunsCommand::Settle(arguments) => decide::settle(&arguments).await,
        RunsCommand::Delete(arguments) => delete::run(&arguments).await,
        RunsCommand::Prune(arguments) => prune::run(&arguments).await,
    }
}

/// The journal, and the run in it that the argument names.
async fn open_run(files: &FileArguments, argument: &RunArgument) -> Result<(Journal, RunId), Failure> {
    let journal = open_journal(files)?;
    let run = find_run(&journal, &argument.run).await?;
    Ok((journal, run))
}

async fn resume(arguments: &ResumeArguments) -> Result<ExitCode, Failure> {
    let Some(name) = &arguments.run else {
        if arguments.drive.output.events {
            let hint = "leave out `--events`, or resume one run at a time";
            return Err(Failure::usage("`--events` follows one run, and `--all` resumes several", hint));
        }
        return resume_all::run(arguments).await;
    };
    let journal = open_journal(&arguments.setup.files)?;
    let run = find_run(&journal, name).await?;
    let saved = match operations::resumable(&journal, &run, system_ms()).await {
        // An ended run only prints its answer, which needs neither tools nor models.
        Ok(FoundRun::Ended(outcome)) => return drive::print_outcome(&run, &outcome, &arguments.drive),
        Ok(FoundRun::Open(machine)) => machine,
        Err(error @ DriveError::Restore(_)) => return Err(Failure::Parked { run, source: Box::new(error) }),
        Err(error) => return Err(error.into()),
    };
    if arguments.drive.approval.ask.is_some() {
        let message = format!("which calls of run `{run}` are approved was decided when it started");
        return Err(Failure::usage(message, "leave out `--ask`; `--yes` approves what its rules ask about"));
    }
    let setup = Setup::to_continue(&saved, &arguments.setup, &arguments.drive).await?;
    let changes = if arguments.accept_changes { Changes::Accepted } else { Changes::Refused };
    drive::advance(&setup, &run, Advance::Resume(changes), &arguments.drive).await
}

/// Continues a run that has ended without all of its results.
async fn retry(arguments: &ContinueArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.setup.files, &arguments.run).await?;
    let saved = operations::retriable(&journal, &run).await?;
    let setup = Setup::to_continue(&saved, &arguments.setup, &arguments.drive).await?;
    drive::advance(&setup, &run, Advance::Retry, &arguments.drive).await
}

/// Asks the process that drives the run to cancel it. If there is none, takes the run over and cancels it here.
async fn cancel(arguments: &ContinueArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.setup.files, &arguments.run).await?;
    if operations::cancel(&journal, &run, system_ms()).await? == CancelOutcome::Ended {
        print_message(&format!("cancelled run {run}, which was parked; its events are kept\n"));
        print_open_calls(&journal, &run).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let lease = journal.summary(&run).await.map_err(Failure::journal)?.lease;
    if let Some(lease) = lease.filter(|lease| lease.holder.liveness() != Liveness::Dead) {
        print_message(&format!("asked {} to cancel run {run}\n", lease.holder));
        return Ok(ExitCode::SUCCESS);
    }
    let setup = Box::pin(Setup::new(&arguments.setup, &arguments.drive)).await?;
    drive::advance(&setup, &run, Advance::Resume(Changes::Refused), &arguments.drive).await?;
    // The command succeeded, although a cancelled run has another exit status.
    Ok(ExitCode::SUCCESS)
}

/// Ends a parked run without continuing it.
async fn close(files: &FileArguments, argument: &RunArgument, reason: &str) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(files, argument).await?;
    if operations::unended(&journal, &run).await?.parked.is_none() {
        return Err(Failure::usage(
            format!("run `{run}` is not parked, so it need not be closed"),
            format!("cancel it with `reknit runs cancel {run}`"),
        ));
    }
    reknit_runtime::close(&journal, &run, "closed", reason, term_now()).await?;
    print_message(&format!("closed run {run}; its events are kept\n"));
    print_open_calls(&journal, &run).await?;
    Ok(ExitCode::SUCCESS)
}

/// Names the calls of a run that may have been made and have no outcome.
async fn print_open_calls(journal: &Journal, run: &RunId) -> Result<(), Failure> {
    let calls = bare_overview(journal, run).await?.open_calls;
    for call in calls {
        print_warning(&format!("the call `{call}` may have been made; its outcome is unknown"));
    }
    Ok(())
}

/// A lease for as long as one command takes.
fn term_now() -> LeaseTerm {
    LeaseTerm { now_ms: system_ms(), ttl_ms: 30_000 }
}
