//! `reknit runs`: lists, shows, explains, compares, resumes, forks, cancels, approves, denies, deletes and prunes runs.

mod bare;
mod compare;
mod decide;
mod delete;
mod explain;
mod fork;
mod list;
mod llm;
mod prune;
mod resume_all;
mod session;
mod session_log;
mod show;
mod stats;
mod step_history;
mod transfer;
mod used_tools;

pub(crate) use llm::{Reader, reader_of};

use std::process::ExitCode;

use reknit_engine::{Ending, Machine};
use reknit_journal::{Journal, LeaseTerm, Liveness};
use reknit_protocol::RunId;
use reknit_runtime::{Changes, DriveError, bare_overview};

use crate::cli::{
    ContinueArguments, DriveArguments, FileArguments, ResumeArguments, RunArgument, RunsCommand, SetupArguments,
};
use crate::drive;
use crate::failure::Failure;
use crate::last_targets::last_targets;
use crate::print::{print_message, print_warning};
use crate::print_answer::print_answer;
use crate::print_report::print_report;
use crate::saved_run::{find_run, load_run, stored_overview};
use crate::setup::{Setup, config_with_arguments, open_journal};

/// Runs a `reknit runs` command.
pub(crate) async fn run(command: RunsCommand) -> Result<ExitCode, Failure> {
    match command {
        RunsCommand::List(arguments) => list::run(&arguments).await,
        RunsCommand::Show { run, step, events, llm, json, journal } => {
            let options = show::ShowOptions { step: step.as_deref(), events, llm, json };
            show::run(&journal, &run, &options).await
        }
        RunsCommand::Explain { run, json, journal } => explain::run(&journal, &run, json).await,
        RunsCommand::Compare { run, other, json, journal } => compare::run(&journal, &run, &other, json).await,
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
    // An ended run only prints its answer, which needs neither tools nor models.
    if let Some(overview) = stored_overview(&journal, &run).await?
        && let Some(ending) = overview.ending()
    {
        return print_ending(&run, &ending, &arguments.drive);
    }
    let saved = match reknit_runtime::load_run(&journal, &run).await {
        Ok(saved) => saved.machine,
        Err(DriveError::Restore(error)) => {
            if journal.summary(&run).await.map_err(Failure::journal)?.status.is_none() {
                reknit_runtime::park(&journal, &run, &error, term_now()).await?;
            }
            return Err(Failure::Parked { run, source: Box::new(error.into()) });
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(ending) = saved.ending() {
        return print_ending(&run, &ending, &arguments.drive);
    }
    if arguments.drive.approval.ask.is_some() {
        let message = format!("which calls of run `{run}` are approved was decided when it started");
        return Err(Failure::usage(message, "leave out `--ask`; `--yes` approves what its rules ask about"));
    }
    let setup = setup_for(&run, &saved, &arguments.setup, &arguments.drive).await?;
    let changes = if arguments.accept_changes { Changes::Accepted } else { Changes::Refused };
    drive::resume(&setup, &run, &arguments.drive, changes).await
}

/// Prints how a run has ended.
pub(crate) fn print_ending(run: &RunId, ending: &Ending<'_>, drive: &DriveArguments) -> Result<ExitCode, Failure> {
    match ending {
        Ending::Answer(answer) => print_answer(run, answer, drive.format(), drive.only_step),
        Ending::Report(report) => print_report(run, report, drive.format()),
    }
}

/// What is needed to continue a run. Fails if a tool or a model is missing.
pub(crate) async fn setup_for(
    run: &RunId,
    saved: &Machine,
    arguments: &SetupArguments,
    drive: &DriveArguments,
) -> Result<Setup, Failure> {
    let mut config = config_with_arguments(arguments)?;
    for target in last_targets(saved) {
        config.use_limits_of_last_model(target.as_str());
    }
    let setup = Setup::with_config(config, &arguments.files, drive).await?;
    let missing = setup.reknit.missing_for(saved);
    if !missing.is_empty() {
        return Err(Failure::usage(
            format!("cannot resume run `{run}` without {}", missing.join(", ")),
            "start or configure what is missing (`--tool NAME=URL`, `--model-url URL`, reknit.toml) and resume again; the run is saved",
        ));
    }
    Ok(setup)
}

/// Continues a run that has ended without all of its results.
async fn retry(arguments: &ContinueArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.setup.files, &arguments.run).await?;
    let saved = load_run(&journal, &run).await?.machine;
    if saved.ending().is_none() {
        let message = format!("run `{run}` has not ended");
        return Err(Failure::usage(message, format!("continue it with `reknit runs resume {run}`")));
    }
    let setup = setup_for(&run, &saved, &arguments.setup, &arguments.drive).await?;
    drive::retry(&setup, &run, &arguments.drive).await
}

/// Asks the process that drives the run to cancel it. If there is none, takes the run over and cancels it here.
async fn cancel(arguments: &ContinueArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.setup.files, &arguments.run).await?;
    let summary = journal.summary(&run).await.map_err(Failure::journal)?;
    if let Some(status) = summary.status {
        return Err(Failure::usage(
            format!("run `{run}` has already ended: {}", status.replace('_', " ")),
            format!("see its result with `reknit runs show {run}`"),
        ));
    }
    if summary.parked.is_some() {
        reknit_runtime::close(&journal, &run, "cancelled", "the run was cancelled", term_now()).await?;
        print_message(&format!("cancelled run {run}, which was parked; its events are kept\n"));
        print_open_calls(&journal, &run).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    journal.send(&run, reknit_runtime::signals::cancel(), now_ms).await?;
    if let Some(lease) = summary.lease.filter(|lease| lease.holder.liveness() != Liveness::Dead) {
        print_message(&format!("asked {} to cancel run {run}\n", lease.holder));
        return Ok(ExitCode::SUCCESS);
    }
    let setup = Setup::new(&arguments.setup, &arguments.drive).await?;
    drive::resume(&setup, &run, &arguments.drive, Changes::Refused).await?;
    // The command succeeded, although a cancelled run has another exit status.
    Ok(ExitCode::SUCCESS)
}

/// Ends a parked run without continuing it.
async fn close(files: &FileArguments, argument: &RunArgument, reason: &str) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(files, argument).await?;
    let summary = journal.summary(&run).await.map_err(Failure::journal)?;
    if let Some(status) = summary.status {
        return Err(Failure::usage(
            format!("run `{run}` has already ended: {}", status.replace('_', " ")),
            format!("see its result with `reknit runs show {run}`"),
        ));
    }
    if summary.parked.is_none() {
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
    LeaseTerm { now_ms: jiff::Timestamp::now().as_millisecond(), ttl_ms: 30_000 }
}
