//! A driver that shows the progress of its run on standard error, or its events on standard output.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reknit_engine::{Machine, event_json};
use reknit_journal::Journal;
use reknit_protocol::Value;
use reknit_runtime::{Committed, Driver, EventOrigin, PieceWatcher, Watcher};
use tokio_util::task::AbortOnDropHandle;

use super::interrupt_handler::{InterruptHandler, Purpose, SentSignal};
use crate::output::{EventOutput, Failure, ProgressDisplay, ResultFormat, SharedDisplay, lock};
use crate::setup::{DriveArguments, Setup};

/// How often countdowns are redrawn.
const TICK: Duration = Duration::from_secs(1);

const LOCKED_NOTE: &str = "waiting: another process locks the journal; answers are kept until they can be stored\n";

/// A driver that shows the progress of its run and listens for Ctrl-C.
pub(super) struct WatchedDriver {
    pub(super) driver: Driver,
    pub(super) signal: SentSignal,
    display: SharedDisplay,
    events: Option<Arc<EventOutput>>,
    _listener: AbortOnDropHandle<()>,
    _ticker: AbortOnDropHandle<()>,
}

impl WatchedDriver {
    pub(super) fn new(setup: &Setup, arguments: &DriveArguments, purpose: Purpose) -> Result<Self, Failure> {
        let interrupt = InterruptHandler { purpose, ..InterruptHandler::default() };
        let output = &arguments.output;
        let display = if output.quiet || output.events {
            ProgressDisplay::silent()
        } else if arguments.format() == ResultFormat::Text {
            ProgressDisplay::new().with_preview()
        } else {
            ProgressDisplay::new()
        };
        let display = Arc::new(Mutex::new(display));
        let progress = Arc::clone(&display);
        let events = if output.events { Some(Arc::new(EventOutput::start()?)) } else { None };
        let live = events.clone();
        let signal = interrupt.sent.clone();
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
                display.show_model_failures(committed.records);
                display.show(committed.machine);
            }
        });
        let previewed = Arc::clone(&display);
        let pieces = PieceWatcher::new(move |ask, delta| {
            lock(&previewed).add_piece(ask, delta, jiff::Timestamp::now().as_millisecond());
        });
        let has_preview = lock(&display).has_preview();
        let (cancel, stop) = (interrupt.cancel.clone(), interrupt.stop.clone());
        let logged = Arc::clone(&display);
        let telemetry = setup.telemetry.telemetry(move |line| lock(&logged).log(line));
        let listener = tokio::spawn(interrupt.listen(Arc::clone(&display)));
        let ticker = tokio::spawn(tick(Arc::clone(&display), setup.reknit.journal.clone()));
        let driver = setup.reknit.driver().with_watcher(watcher).with_telemetry(telemetry);
        let driver = driver.with_cancel_token(cancel).with_stop_token(stop);
        Ok(Self {
            driver: if has_preview { driver.with_piece_watcher(pieces) } else { driver },
            signal,
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
