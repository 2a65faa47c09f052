//! `reknit runs`: what has run, what became of it, and what is to become of it.

mod decide;
mod list;
mod llm;
mod moments;
mod saved;
mod session;
mod show;
mod standing;

use std::process::ExitCode;

use reknit_engine::{Decision, Ending};

use crate::cli::{DriveArguments, RunsCommand, WorkArguments};
use crate::drive;
use crate::failure::Failure;
use crate::finish::finish;
use crate::finish_report::finish_report;
use crate::ready::{last_targets, missing};
use crate::work::{self, Work};
pub(crate) use saved::read_back;

use saved::find;

/// Does what was typed.
pub(crate) async fn run(command: RunsCommand) -> Result<ExitCode, Failure> {
    match command {
        RunsCommand::List { limit, all, json, journal } => {
            list::run(&journal, if all { u32::MAX } else { limit }, json).await
        }
        RunsCommand::Show { run, step, events, llm, json, journal } => {
            let wanted = show::Wanted { step: step.as_deref(), events, llm, json };
            show::run(&journal, &run.run, &wanted).await
        }
        RunsCommand::Resume { run, work, drive } => resume(&run.run, &work, &drive).await,
        RunsCommand::Cancel { run, work, drive } => cancel(&run.run, &work, &drive).await,
        RunsCommand::Approve { run, step, journal } => {
            decide::run(&journal, &run.run, step.as_deref(), Decision::Approve).await
        }
        RunsCommand::Deny { run, step, journal } => {
            decide::run(&journal, &run.run, step.as_deref(), Decision::Deny).await
        }
    }
}

async fn resume(name: &str, arguments: &WorkArguments, drive_as: &DriveArguments) -> Result<ExitCode, Failure> {
    let config = work::config(arguments.files.config.as_deref())?;
    let journal = work::open(&config, &arguments.files)?;
    let run = find(&journal, name).await?;
    let saved = read_back(&journal, &run).await?.run;
    // Who asks for a run that is over wants its answer, and needs neither tools nor models for it.
    match saved.ending() {
        Some(Ending::Answer(answer)) => return finish(&run, answer, drive_as.json),
        Some(Ending::Report(report)) => return finish_report(&run, report, drive_as.json),
        None => {}
    }
    let mut config = work::configured(arguments)?;
    for target in last_targets(&saved) {
        config.ask_last(target.as_str());
    }
    let work = Work::with(config, &arguments.files, drive_as).await?;
    let missing = missing(&saved, &work.reknit.catalogue, &work.reknit.targets);
    if !missing.is_empty() {
        return Err(Failure::Usage {
            what: format!("run `{run}` needs what is not there: {}", missing.join(", ")),
            hint: Some(
                "start it, or say where it is (`--tool NAME=URL`, `--model-url URL`, reknit.toml), and resume again; nothing is lost"
                    .to_owned(),
            ),
        });
    }
    drive::resume(&work, &run, drive_as).await
}

/// Tells the process that drives the run; if there is none, takes the run over and ends it.
async fn cancel(name: &str, arguments: &WorkArguments, drive_as: &DriveArguments) -> Result<ExitCode, Failure> {
    let config = work::config(arguments.files.config.as_deref())?;
    let journal = work::open(&config, &arguments.files)?;
    let run = find(&journal, name).await?;
    let summary = journal.summary(&run).await.map_err(|error| Failure::Journal(Box::new(error)))?;
    if let Some(status) = summary.status {
        return Err(Failure::Usage {
            what: format!("run `{run}` has ended already: {}", status.replace('_', " ")),
            hint: Some(format!("see what became of it with `reknit runs show {run}`")),
        });
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    journal.send(&run, reknit_runtime::signals::cancel(), now_ms).await?;
    if let Some(held) = summary.lease.filter(|held| held.holder.liveness() != reknit_journal::Liveness::Dead) {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "{} was told to end run {run}", held.holder);
        return Ok(ExitCode::SUCCESS);
    }
    let work = Work::new(arguments, drive_as).await?;
    drive::resume(&work, &run, drive_as).await?;
    // What was asked for was done: the run is cancelled.
    Ok(ExitCode::SUCCESS)
}
