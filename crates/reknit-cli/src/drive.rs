//! Drives a run, shows its progress, and cancels it on Ctrl-C, SIGTERM and SIGHUP.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reknit_engine::{Answer, Machine, event_json};
use reknit_journal::Journal;
use reknit_protocol::{RunId, Value};
use reknit_runtime::test_support::SegmentedDriver;
use reknit_runtime::{Changes, Committed, DriveError, DriveOutcome, Driver, EventOrigin, RunStart, Watcher};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::approval_dialogue::{Decided, decide_now};
use crate::cli::{DriveArguments, DriverKind, OutputArguments};
use crate::end_signals::EndSignals;
use crate::event_output::EventOutput;
use crate::failure::Failure;
use crate::print::{print_message, print_warning};
use crate::print_answer::{print_answer, print_waiting};
use crate::print_report::print_report;
use crate::progress::display::ProgressDisplay;
use crate::setup::Setup;
use crate::terminal_text::one_line;

/// Starts a run, drives it until it ends or waits, and prints the result.
pub(crate) async fn drive(
    setup: &Setup,
    started: impl Into<RunStart>,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let started: RunStart = started.into();
    let run = started.run().clone();
    let watched = WatchedDriver::new(setup, &arguments.output)?;
    let outcome = match arguments.driver {
        DriverKind::Steady => watched.driver.start(started).await,
        DriverKind::Segments => SegmentedDriver::new(watched.driver.clone()).start(started).await,
    };
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
    let watched = WatchedDriver::new(setup, &arguments.output)?;
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
    let watched = WatchedDriver::new(setup, &arguments.output)?;
    let outcome = watched.driver.join(run).await;
    drop(watched);
    finish(setup, run, outcome, arguments).await
}

/// Tries the failed and skipped steps of a run again, and prints the result.
pub(crate) async fn retry(setup: &Setup, run: &RunId, arguments: &DriveArguments) -> Result<ExitCode, Failure> {
    let watched = WatchedDriver::new(setup, &arguments.output)?;
    let outcome = watched.driver.retry(run).await;
    drop(watched);
    finish(setup, run, outcome, arguments).await
}

async fn resume_once(
    setup: &Setup,
    run: &RunId,
    arguments: &DriveArguments,
    changes: Changes,
) -> Result<Result<DriveOutcome, DriveError>, Failure> {
    let watched = WatchedDriver::new(setup, &arguments.output)?;
    Ok(match arguments.driver {
        DriverKind::Steady => watched.driver.resume_with(run, changes).await,
        DriverKind::Segments => SegmentedDriver::new(watched.driver.clone()).resume(run).await,
    })
}

/// Continues a run that waits as long as `--yes` or a person at the terminal decides, then prints the result and delivers the
/// telemetry.
async fn finish(
    setup: &Setup,
    run: &RunId,
    mut outcome: Result<DriveOutcome, DriveError>,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let journal = &setup.reknit.journal;
    let code = loop {
        break match outcome {
            Ok(DriveOutcome::Finished(answer)) => print_answer(run, &answer, arguments.format(), arguments.only_step),
            Ok(DriveOutcome::Reported(report)) => print_report(run, &report, arguments.format()),
            Ok(DriveOutcome::Waiting) => match decide_now(journal, run, &arguments.approval).await {
                Ok(Decided::Continue) => {
                    outcome = resume_once(setup, run, arguments, Changes::Refused).await?;
                    continue;
                }
                Ok(Decided::Later(approvals)) => {
                    let report = setup.reknit.settle_webhook(run).await;
                    for problem in &report.problems {
                        print_warning(&one_line(problem, usize::MAX));
                    }
                    if report.decided > 0 {
                        outcome = resume_once(setup, run, arguments, Changes::Refused).await?;
                        continue;
                    }
                    print_waiting(run, &approvals, arguments.format())
                }
                Err(failure) => Err(failure),
            },
            Err(error @ DriveError::Restore(_)) => Err(Failure::Parked { run: run.clone(), source: Box::new(error) }),
            Err(error) => Err(error.into()),
        };
    };
    // After the answer, which must not wait for the telemetry collector.
    setup.telemetry.end().await;
    code
}

/// How often countdowns are redrawn.
const TICK: Duration = Duration::from_secs(1);

/// The note after Ctrl-C.
const CANCEL_NOTE: &str = "cancelling: calls in progress may still complete; press Ctrl-C again to exit now";

/// The note after the first Ctrl-C in a session.
const STOP_NOTE: &str = "stopping: one last turn for the report; press Ctrl-C again to cancel without a report";

/// The note while another process locks the journal.
const LOCKED_NOTE: &str = "waiting: another process locks the journal; answers are kept until they can be stored\n";

/// A driver that shows the progress of its run and listens for Ctrl-C.
struct WatchedDriver {
    driver: Driver,
    display: SharedDisplay,
    events: Option<Arc<EventOutput>>,
    _listener: AbortOnDropHandle<()>,
    _ticker: AbortOnDropHandle<()>,
}

type SharedDisplay = Arc<Mutex<ProgressDisplay>>;

fn lock(display: &SharedDisplay) -> MutexGuard<'_, ProgressDisplay> {
    display.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WatchedDriver {
    fn new(setup: &Setup, output: &OutputArguments) -> Result<Self, Failure> {
        let display = if output.quiet || output.events { ProgressDisplay::silent() } else { ProgressDisplay::new() };
        let display = Arc::new(Mutex::new(display));
        let progress = Arc::clone(&display);
        let events = if output.events { Some(Arc::new(EventOutput::start()?)) } else { None };
        let live = events.clone();
        let interrupt = InterruptHandler::default();
        let is_session = Arc::clone(&interrupt.is_session);
        let waiting_for_job = Arc::clone(&interrupt.waiting_for_job);
        let watcher = Watcher::inline(move |committed| {
            let mut display = lock(&progress);
            display.add(committed.records);
            if committed.origin == EventOrigin::New {
                if let Some(live) = &live {
                    send_events(live, committed);
                }
                is_session.store(committed.machine.as_session().is_some(), Ordering::Relaxed);
                let run = committed.machine.as_run().filter(|run| run.is_idle() && !run.is_waiting_for_person());
                let run = run.map(|run| run.started().run.clone());
                *waiting_for_job.lock().unwrap_or_else(PoisonError::into_inner) = run;
                display.show(committed.machine);
            }
        });
        let (cancel, stop) = (interrupt.cancel.clone(), interrupt.stop.clone());
        let logged = Arc::clone(&display);
        let telemetry = setup.telemetry.telemetry(move |line| lock(&logged).log(line));
        let listener = tokio::spawn(interrupt.listen(Arc::clone(&display)));
        let ticker = tokio::spawn(tick(Arc::clone(&display), setup.reknit.journal.clone()));
        Ok(Self {
            driver: setup
                .reknit
                .driver()
                .with_watcher(watcher)
                .with_telemetry(telemetry)
                .with_cancel_token(cancel)
                .with_stop_token(stop),
            display,
            _listener: AbortOnDropHandle::new(listener),
            events,
            _ticker: AbortOnDropHandle::new(ticker),
        })
    }
}

impl Drop for WatchedDriver {
    fn drop(&mut self) {
        lock(&self.display).end();
        if let Some(events) = &self.events {
            events.end();
        }
    }
}

/// Writes a line for each decision that was committed.
fn send_events(output: &EventOutput, committed: &Committed<'_>) {
    let run = match committed.machine {
        Machine::Run(run) => &run.started().run,
        Machine::Session(session) => &session.started().run,
    };
    for object in committed.records.iter().filter_map(|record| event_json(run, committed.event.at_ms, record)) {
        output.send(Value::Object(object).to_string());
    }
}

/// Reacts to Ctrl-C, SIGTERM and SIGHUP: stops a session, cancels a run, and at last exits the process.
#[derive(Debug, Default)]
struct InterruptHandler {
    cancel: CancellationToken,
    stop: CancellationToken,
    is_session: Arc<AtomicBool>,
    /// The run, while it only waits for jobs.
    waiting_for_job: Arc<Mutex<Option<RunId>>>,
}

impl InterruptHandler {
    /// The first Ctrl-C stops a session, which then writes its report. The next one, or the first one of a run, cancels.
    /// One more exits the process; the run can then be resumed. A run that only waits for jobs is not cancelled by the first.
    async fn listen(self, display: SharedDisplay) {
        // One stream for all signals: none is lost between two of them.
        let Ok(mut signals) = EndSignals::new() else { return };
        signals.next().await;
        let waiting = self.waiting_for_job.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(run) = waiting {
            lock(&display).end();
            print_message(&format!(
                "the run waits for a job and is saved: continue with `reknit runs resume {run}`, or cancel it with \
                 `reknit runs cancel {run}`\n"
            ));
            std::process::exit(130);
        }
        if self.is_session.load(Ordering::Relaxed) {
            lock(&display).set_note(STOP_NOTE);
            self.stop.cancel();
            signals.next().await;
        }
        lock(&display).set_note(CANCEL_NOTE);
        self.cancel.cancel();
        signals.next().await;
        std::process::exit(130);
    }
}

/// Redraws countdowns, and says once that the run waits for the journal.
async fn tick(display: SharedDisplay, journal: Journal) {
    let mut interval = tokio::time::interval(TICK);
    let mut was_locked = false;
    loop {
        interval.tick().await;
        let is_locked = journal.locked_for().is_some();
        if is_locked && !was_locked {
            lock(&display).log(LOCKED_NOTE);
        }
        was_locked = is_locked;
        lock(&display).tick(jiff::Timestamp::now().as_millisecond());
    }
}
