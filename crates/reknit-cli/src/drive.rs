//! Drives a run, shows its progress, and prints what it has come to.

mod approval_dialogue;
mod approval_edit;
mod interrupt_handler;
mod repeated_start;
mod watched_driver;

use std::process::ExitCode;

use reknit_engine::{Answer, Ending, Report};
use reknit_protocol::RunId;
use reknit_runtime::{Changes, DriveError, DriveOutcome, Fork, RunStart};

use crate::output::{ApprovalRequest, Failure, one_line, print_answer, print_report, print_waiting, print_warning};
use crate::setup::{DriveArguments, Setup};
use approval_dialogue::{Decided, decide_now};
pub(crate) use approval_edit::{ParameterEdit, check_edit};
pub(crate) use interrupt_handler::SentSignal;
pub(crate) use repeated_start::{continue_started, note_if_started};
use watched_driver::WatchedDriver;

/// Starts a run, drives it until it ends or waits, and prints the result.
pub(crate) async fn drive(
    setup: &Setup,
    started: impl Into<RunStart>,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let started: RunStart = started.into();
    let run = started.run().clone();
    let watched = WatchedDriver::new(setup, arguments)?;
    let outcome = watched.driver.start(started).await;
    drop(watched);
    finish(setup, &run, outcome, arguments).await
}

/// Starts a run that asks nobody, and drives it to its answer.
pub(crate) async fn drive_to_answer(
    setup: &Setup,
    started: impl Into<RunStart>,
    arguments: &DriveArguments,
) -> Result<(RunId, Answer), Failure> {
    let started: RunStart = started.into();
    let run = started.run().clone();
    let watched = WatchedDriver::new(setup, arguments)?;
    let outcome = watched.driver.start(started).await;
    drop(watched);
    setup.telemetry.end().await;
    match outcome? {
        DriveOutcome::Finished(answer) => Ok((run, *answer)),
        DriveOutcome::Waiting | DriveOutcome::Reported(_) => {
            let hint = format!("see what it did with `reknit runs show {run}`");
            Err(Failure::usage(format!("run `{run}` has no answer"), hint))
        }
    }
}

/// Resumes a run, drives it until it ends or waits, and prints the result.
pub(crate) async fn resume(
    setup: &Setup,
    run: &RunId,
    arguments: &DriveArguments,
    changes: Changes,
) -> Result<ExitCode, Failure> {
    let outcome = resume_once(setup, run, arguments, changes).await?;
    finish(setup, run, outcome, arguments).await
}

/// Waits for a run that another process drives, or resumes it, and prints the result.
pub(crate) async fn join(setup: &Setup, run: &RunId, arguments: &DriveArguments) -> Result<ExitCode, Failure> {
    let watched = WatchedDriver::new(setup, arguments)?;
    let outcome = watched.driver.join(run).await;
    drop(watched);
    finish(setup, run, outcome, arguments).await
}

/// Tries the failed and skipped steps of a run again, and prints the result.
pub(crate) async fn retry(setup: &Setup, run: &RunId, arguments: &DriveArguments) -> Result<ExitCode, Failure> {
    let watched = WatchedDriver::new(setup, arguments)?;
    let outcome = watched.driver.retry(run).await;
    drop(watched);
    finish(setup, run, outcome, arguments).await
}

/// Starts a fork, drives it until it ends or waits, and prints the result. What the user of a session said afterwards is said again.
pub(crate) async fn start_fork(setup: &Setup, fork: Fork, arguments: &DriveArguments) -> Result<ExitCode, Failure> {
    let (run, messages) = (fork.run().clone(), fork.later_messages().to_vec());
    let watched = WatchedDriver::new(setup, arguments)?;
    let mut outcome = watched.driver.start_fork(fork).await;
    drop(watched);
    for message in messages {
        if !matches!(outcome, Ok(DriveOutcome::Reported(_))) {
            print_warning(&format!("not said, because there is no report before it: {}", one_line(&message, 100)));
            continue;
        }
        let watched = WatchedDriver::new(setup, arguments)?;
        outcome = watched.driver.follow_up(&run, &message).await;
    }
    finish(setup, &run, outcome, arguments).await
}

async fn resume_once(
    setup: &Setup,
    run: &RunId,
    arguments: &DriveArguments,
    changes: Changes,
) -> Result<Result<DriveOutcome, DriveError>, Failure> {
    let watched = WatchedDriver::new(setup, arguments)?;
    Ok(watched.driver.resume_with(run, changes).await)
}

pub(crate) fn print_ending(run: &RunId, ending: &Ending<'_>, drive: &DriveArguments) -> Result<ExitCode, Failure> {
    match ending {
        Ending::Answer(answer) => print_answer(run, answer, drive.format(), drive.only_step),
        Ending::Report(report) => print_report(run, report, drive.format()),
    }
}

/// What a run that was driven has come to.
pub(crate) enum Settled {
    Answer(Box<Answer>),
    Report(Box<Report>),
    /// Nobody decided about these calls yet.
    Waiting(Vec<ApprovalRequest>),
}

/// How a message of a conversation is answered.
pub(crate) enum TurnStart {
    /// It is the first one.
    New(Box<RunStart>),
    /// The conversation goes on with it.
    FollowedUp(String),
    /// It was sent before, and has no answer yet.
    Joined,
}

/// Lets an agent answer one message. Also returns the signal that stopped the answer. Ctrl-C cancels it, and the conversation can
/// go on.
pub(crate) async fn drive_turn(
    setup: &Setup,
    run: &RunId,
    start: TurnStart,
    arguments: &DriveArguments,
) -> Result<(Settled, SentSignal), Failure> {
    let watched = WatchedDriver::of_chat(setup, arguments)?;
    let outcome = match start {
        TurnStart::New(start) => watched.driver.start(*start).await,
        TurnStart::FollowedUp(message) => watched.driver.follow_up(run, &message).await,
        TurnStart::Joined => watched.driver.join(run).await,
    };
    let signal = watched.signal.clone();
    drop(watched);
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
        if let Decided::Later(approvals) = decide_now(&setup.reknit.journal, run, &arguments.approval).await? {
            let report = setup.reknit.settle_webhook(run).await;
            for problem in &report.problems {
                print_warning(&one_line(problem, usize::MAX));
            }
            if report.decided == 0 {
                return Ok(Settled::Waiting(approvals));
            }
        }
        outcome = resume_once(setup, run, arguments, Changes::Refused).await?;
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
