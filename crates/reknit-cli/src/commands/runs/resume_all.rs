//! `reknit runs resume --all`: continues what a restart has interrupted.

use std::process::ExitCode;
use std::sync::Arc;

use reknit_engine::{Ending, Machine, Status};
use reknit_journal::{Journal, Liveness, RunFilter, RunSummary, StatusFilter};
use reknit_protocol::{RunId, error_chain};
use reknit_runtime::signals::decisions;
use reknit_runtime::{DriveOutcome, Driver, operations};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::ResumeArguments;
use crate::output::{Failure, failure_message, inbox, one_line, print_data, print_failure, print_message};
use crate::setup::{Setup, config_with_arguments, load_run, open_journal, with_limits_of_runs};

/// The exit status for a run that waits.
const WAITING: u8 = 6;

pub(super) async fn run(arguments: &ResumeArguments) -> Result<ExitCode, Failure> {
    let journal = open_journal(&arguments.setup.files)?;
    let chosen = interrupted(&journal).await?;
    if chosen.is_empty() {
        print_message("no run was interrupted, and none has a decision that it waited for\n");
        return Ok(ExitCode::SUCCESS);
    }
    let config = config_with_arguments(&arguments.setup)?;
    let config = with_limits_of_runs(config, chosen.iter().map(|(_, machine)| machine));
    let setup = Setup::with_config(config, &arguments.setup.files, &arguments.drive).await?;
    let codes = drive_all(&setup, chosen, arguments.at_once).await?;
    setup.telemetry.end().await;
    Ok(ExitCode::from([1, WAITING].into_iter().find(|code| codes.contains(code)).unwrap_or(0)))
}

/// The runs to continue, with their state. One that only a person can continue is left alone until there is a decision, or until the
/// time for it is over.
async fn interrupted(journal: &Journal) -> Result<Vec<(RunId, Machine)>, Failure> {
    let filter = RunFilter::of_status(StatusFilter::Unfinished, u32::MAX);
    let mut chosen = Vec::new();
    for RunSummary { run, lease, parked, .. } in journal.runs(&filter).await.map_err(Failure::journal)? {
        // Only a person continues a parked run.
        if parked.is_some() || lease.is_some_and(|lease| lease.holder.liveness() != Liveness::Dead) {
            continue;
        }
        match load_run(journal, &run).await {
            Ok(saved) => {
                let now_ms = jiff::Timestamp::now().as_millisecond();
                let has_expired = saved.machine.questions().iter().any(|question| question.has_expired(now_ms));
                let waits = saved.machine.is_waiting_for_person() && !has_expired;
                if !waits || !decisions(&inbox(journal, &run).await?).is_empty() {
                    chosen.push((run, saved.machine));
                }
            }
            // One run that cannot be read must not keep the others from going on.
            Err(failure) => print_failure(&format!("run {run}: {}", failure_message(&failure))),
        }
    }
    // The oldest first.
    chosen.reverse();
    Ok(chosen)
}

async fn drive_all(setup: &Setup, chosen: Vec<(RunId, Machine)>, at_once: u32) -> Result<Vec<u8>, Failure> {
    let permits = Arc::new(Semaphore::new(at_once as usize));
    let telemetry = setup.telemetry.telemetry(print_failure);
    let driver = setup.reknit.driver().with_telemetry(telemetry);
    let mut tasks: JoinSet<(RunId, Result<DriveOutcome, Failure>)> = JoinSet::new();
    for (run, machine) in chosen {
        let can_go_on = operations::check_requirements(&setup.reknit, &machine);
        let (driver, permits) = (driver.clone(), Arc::clone(&permits));
        tasks.spawn(async move {
            let outcome = match can_go_on {
                Ok(()) => resume(&driver, &run, &permits).await,
                Err(error) => Err(error.into()),
            };
            (run, outcome)
        });
    }
    let mut codes = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        let (run, outcome) = joined.map_err(Failure::start("a run"))?;
        let (code, words) = describe(&outcome);
        print_data(&format!("{run}  {words}\n"))?;
        codes.push(code);
    }
    Ok(codes)
}

async fn resume(driver: &Driver, run: &RunId, permits: &Semaphore) -> Result<DriveOutcome, Failure> {
    // The semaphore is never closed.
    let _permit = permits.acquire().await.ok();
    Ok(driver.resume(run).await?)
}

/// The exit status for one run, and what became of it.
fn describe(outcome: &Result<DriveOutcome, Failure>) -> (u8, String) {
    let status = match outcome {
        Ok(DriveOutcome::Finished(answer)) => answer.status,
        Ok(DriveOutcome::Reported(report)) => Ending::Report(report).status(),
        Ok(DriveOutcome::Waiting) => return (WAITING, "waiting".to_owned()),
        Err(failure) => return (1, format!("error: {}", one_line(&error_chain(failure), usize::MAX))),
    };
    (u8::from(status != Status::Complete), status.as_str().replace('_', " "))
}
