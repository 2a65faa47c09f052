//! A run is driven, watched, and may be cancelled with Ctrl-C.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reknit_engine::{Event, Machine};
use reknit_protocol::RunId;
use reknit_runtime::{Beginning, DriveError, Driver, Ended, Segments, Watcher};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::cli::{DriveArguments, DriverKind};
use crate::failure::Failure;
use crate::finish::{finish, waiting};
use crate::finish_report::finish_report;
use crate::questions::asked;
use crate::runs::read_back;
use crate::screen::Screen;
use crate::work::Work;

/// Begins a run and drives it to its end.
pub(crate) async fn drive(
    work: &Work,
    started: impl Into<Beginning>,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let started: Beginning = started.into();
    let run = started.run().clone();
    let watched = Watched::new(work);
    let outcome = match arguments.driver {
        DriverKind::Steady => watched.driver.start(started).await,
        DriverKind::Segments => Segments::new(watched.driver.clone()).start(started).await,
    };
    let code = watched.end(work, &run, outcome, arguments).await;
    // Behind the answer: who waits for it does not wait for a collector.
    work.telling.end().await;
    code
}

/// Drives a run on.
pub(crate) async fn resume(work: &Work, run: &RunId, arguments: &DriveArguments) -> Result<ExitCode, Failure> {
    let watched = Watched::new(work);
    let outcome = match arguments.driver {
        DriverKind::Steady => watched.driver.resume(run).await,
        DriverKind::Segments => Segments::new(watched.driver.clone()).resume(run).await,
    };
    let code = watched.end(work, run, outcome, arguments).await;
    work.telling.end().await;
    code
}

/// How often what counts down is drawn again.
const TICK: Duration = Duration::from_secs(1);

/// What somebody is told who presses Ctrl-C.
const CANCELLING: &str = "cancelling: what is under way may still answer; press Ctrl-C again to leave at once";

/// What somebody is told who presses Ctrl-C while an agent works.
const STOPPING: &str = "stopping: one last turn for the report; press Ctrl-C again to end it without";

/// A driver whose runs are shown, and end when somebody presses Ctrl-C.
struct Watched {
    driver: Driver,
    screen: Shared,
    _listener: AbortOnDropHandle<()>,
    _ticker: AbortOnDropHandle<()>,
}

type Shared = Arc<Mutex<Screen>>;

fn locked(screen: &Shared) -> MutexGuard<'_, Screen> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    fn new(work: &Work) -> Self {
        let screen = Arc::new(Mutex::new(Screen::new()));
        let shown = Arc::clone(&screen);
        let ends = Ends::default();
        let is_session = Arc::clone(&ends.is_session);
        let watcher: Watcher = Arc::new(move |machine: &Machine, _: &Event| {
            is_session.store(machine.as_session().is_some(), Ordering::Relaxed);
            locked(&shown).show(machine);
        });
        let (cancel, stop) = (ends.cancel.clone(), ends.stop.clone());
        let logged = Arc::clone(&screen);
        let telemetry = work.telling.telemetry(move |line| locked(&logged).log(line));
        let listener = tokio::spawn(ends.listen(Arc::clone(&screen)));
        let ticker = tokio::spawn(tick(Arc::clone(&screen)));
        Self {
            driver: work.reknit.driver().watched_by(watcher).telling(telemetry).cancelled_by(cancel).stopped_by(stop),
            screen,
            _listener: AbortOnDropHandle::new(listener),
            _ticker: AbortOnDropHandle::new(ticker),
        }
    }

    async fn end(
        &self,
        work: &Work,
        run: &RunId,
        outcome: Result<Ended, DriveError>,
        arguments: &DriveArguments,
    ) -> Result<ExitCode, Failure> {
        locked(&self.screen).end();
        match outcome? {
            Ended::Finished(answer) => finish(run, &answer, arguments.json),
            Ended::Reported(report) => finish_report(run, &report, arguments.json),
            Ended::Waiting => {
                let saved = read_back(&work.reknit.journal, run).await?;
                waiting(run, &asked(&saved.run, &[]), arguments.json)
            }
        }
    }
}

/// How what is driven can be told to end.
#[derive(Debug, Default)]
struct Ends {
    cancel: CancellationToken,
    stop: CancellationToken,
    is_session: Arc<AtomicBool>,
}

impl Ends {
    /// Once: a session comes to its report. Once more, and for a run at once: it ends as cancelled. Then the process ends,
    /// and what was driven can be resumed.
    async fn listen(self, screen: Shared) {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        if self.is_session.load(Ordering::Relaxed) {
            locked(&screen).say(STOPPING);
            self.stop.cancel();
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
        }
        locked(&screen).say(CANCELLING);
        self.cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(130);
        }
    }
}

/// Lets what counts down be seen to do so.
async fn tick(screen: Shared) {
    let mut interval = tokio::time::interval(TICK);
    loop {
        interval.tick().await;
        locked(&screen).tick(jiff::Timestamp::now().as_millisecond());
    }
}
