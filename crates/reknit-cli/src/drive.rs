//! Drives a run, shows its progress, and prints what it has come to.

mod approval_dialogue;
mod interrupt_handler;
mod repeated_start;
mod watched_driver;

use std::process::ExitCode;

use reknit_engine::{Answer, Report};
use reknit_protocol::RunId;
use reknit_runtime::{Changes, DriveError, DriveOutcome, Fork, RunStart};

use crate::output::{ApprovalRequest, Failure, one_line, print_answer, print_report, print_waiting, print_warning};
use crate::setup::{DriveArguments, Setup};
pub(crate) use approval_dialogue::ParameterEdit;
use approval_dialogue::undecided;
use interrupt_handler::Purpose;
pub(crate) use interrupt_handler::SentSignal;
pub(crate) use repeated_start::{continue_started, note_if_started};
use watched_driver::WatchedDriver;

/// How a run goes on.
pub(crate) enum Advance {
    Start(Box<RunStart>),
    Fork(Box<Fork>),
    Resume(Changes),
    /// Waits for the process that drives the run, or resumes it if there is none.
    Join,
    /// Tries the failed and skipped steps again.
    Retry,
    /// A session goes on with this message of its user.
    FollowUp(String),
}

/// Starts a run, drives it until it ends or waits, and prints the result.
pub(crate) async fn drive(
    setup: &Setup,
    started: impl Into<RunStart>,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let started: RunStart = started.into();
    let run = started.run().clone();
    advance(setup, &run, Advance::Start(Box::new(started)), arguments).await
}

/// Drives a run until it ends or waits, and prints the result.
pub(crate) async fn advance(
    setup: &Setup,
    run: &RunId,
    how: Advance,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let (outcome, _) = watched(setup, run, how, (arguments, Purpose::Whole)).await?;
    finish(setup, run, outcome, arguments).await
}

/// Drives a run while its progress is shown. Also returns the signal that came meanwhile.
async fn watched(
    setup: &Setup,
    run: &RunId,
    how: Advance,
    (arguments, purpose): (&DriveArguments, Purpose),
) -> Result<(Result<DriveOutcome, DriveError>, SentSignal), Failure> {
    let watched = WatchedDriver::new(setup, arguments, purpose)?;
    let driver = &watched.driver;
    let outcome = match how {
        Advance::Start(start) => driver.start(*start).await,
        Advance::Fork(fork) => driver.start_fork(*fork).await,
        Advance::Resume(changes) => driver.resume_with(run, changes).await,
        Advance::Join => driver.join(run).await,
        Advance::Retry => driver.retry(run).await,
        Advance::FollowUp(message) => driver.follow_up(run, &message).await,
    };
    Ok((outcome, watched.signal.clone()))
}

/// Starts a run that asks nobody, and drives it to its answer.
pub(crate) async fn drive_to_answer(
    setup: &Setup,
    started: impl Into<RunStart>,
    arguments: &DriveArguments,
) -> Result<(RunId, Answer), Failure> {
    let started: RunStart = started.into();
    let run = started.run().clone();
    let (outcome, _) = watched(setup, &run, Advance::Start(Box::new(started)), (arguments, Purpose::Whole)).await?;
    setup.telemetry.end().await;
    match outcome? {
        DriveOutcome::Finished(answer) => Ok((run, *answer)),
        DriveOutcome::Waiting | DriveOutcome::Reported(_) => {
            let hint = format!("see what it did with `reknit runs show {run}`");
            Err(Failure::usage(format!("run `{run}` has no answer"), hint))
        }
    }
}

/// Starts a fork, drives it until it ends or waits, and prints the result. What the user of a session said afterwards is said again.
pub(crate) async fn start_fork(setup: &Setup, fork: Fork, arguments: &DriveArguments) -> Result<ExitCode, Failure> {
    let (run, messages) = (fork.run().clone(), fork.later_messages().to_vec());
    let whole = (arguments, Purpose::Whole);
    let (mut outcome, _) = watched(setup, &run, Advance::Fork(Box::new(fork)), whole).await?;
    for message in messages {
        if !matches!(outcome, Ok(DriveOutcome::Reported(_))) {
            print_warning(&format!("not said, because there is no report before it: {}", one_line(&message, 100)));
            continue;
        }
        (outcome, _) = watched(setup, &run, Advance::FollowUp(message), whole).await?;
    }
    finish(setup, &run, outcome, arguments).await
}

/// Prints what a run has come to that ended before.
pub(crate) fn print_outcome(run: &RunId, outcome: &DriveOutcome, drive: &DriveArguments) -> Result<ExitCode, Failure> {
    match outcome {
        DriveOutcome::Finished(answer) => print_answer(run, answer, drive.format(), drive.only_step),
        DriveOutcome::Reported(report) => print_report(run, report, drive.format()),
        DriveOutcome::Waiting => print_waiting(run, &[], drive.format()),
    }
}

/// What a run that was driven has come to.
pub(crate) enum Settled {
    Answer(Box<Answer>),
    Report(Box<Report>),
    /// Nobody decided about these calls yet.
    Waiting(Vec<ApprovalRequest>),
}

/// Lets an agent answer one message. Also returns the signal that stopped the answer. Ctrl-C cancels it, and the conversation can
/// go on.
pub(crate) async fn drive_turn(
    setup: &Setup,
    run: &RunId,
    how: Advance,
    arguments: &DriveArguments,
) -> Result<(Settled, SentSignal), Failure> {
    let (outcome, signal) = watched(setup, run, how, (arguments, Purpose::OneMessage)).await?;
    Ok((settle(setup, run, outcome, arguments).await?, signal))
}

/// Continues a run that waits as long as `--yes`, a person at the terminal or the webhook decides.
async fn settle(
    setup: &Setup,
    run: &RunId,
    mut outcome: Result<DriveOutcome, DriveError>,
    arguments: &DriveArguments,
) -> Result<Settled, Failure> {
    loop {
        match outcome {
            Ok(DriveOutcome::Finished(answer)) => return Ok(Settled::Answer(answer)),
            Ok(DriveOutcome::Reported(report)) => return Ok(Settled::Report(report)),
            Ok(DriveOutcome::Waiting) => {}
            Err(error @ DriveError::Restore(_)) => {
                return Err(Failure::Parked { run: run.clone(), source: Box::new(error) });
            }
            Err(error) => return Err(error.into()),
        }
        if let Some(approvals) = undecided(&setup.reknit.journal, run, &arguments.approval).await? {
            let report = setup.reknit.settle_webhook(run).await;
            for problem in &report.problems {
                print_warning(&one_line(problem, usize::MAX));
            }
            if report.decided == 0 {
                return Ok(Settled::Waiting(approvals));
            }
        }
        (outcome, _) = watched(setup, run, Advance::Resume(Changes::Refused), (arguments, Purpose::Whole)).await?;
    }
}

/// Continues a run that waits if somebody decides, then prints the result and delivers the telemetry.
async fn finish(
    setup: &Setup,
    run: &RunId,
    outcome: Result<DriveOutcome, DriveError>,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let code = match settle(setup, run, outcome, arguments).await {
        Ok(Settled::Answer(answer)) => print_answer(run, &answer, arguments.format(), arguments.only_step),
        Ok(Settled::Report(report)) => print_report(run, &report, arguments.format()),
        Ok(Settled::Waiting(approvals)) => print_waiting(run, &approvals, arguments.format()),
        Err(failure) => Err(failure),
    };
    // After the answer, which must not wait for the telemetry collector.
    setup.telemetry.end().await;
    code
}
