//! What Ctrl-C, SIGTERM and SIGHUP do while a run is driven.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reknit_protocol::RunId;
use tokio_util::sync::CancellationToken;

use crate::output::{SharedDisplay, lock, print_message};
use crate::setup::{EndSignal, EndSignals};

const CANCEL_NOTE: &str = "cancelling: calls in progress may still complete; press Ctrl-C again to exit now";

const STOP_NOTE: &str = "stopping: one last turn for the report; press Ctrl-C again to cancel without a report";

const STOP_MESSAGE_NOTE: &str = "stopping: calls in progress may still complete; press Ctrl-C again to exit now";

/// Reacts to Ctrl-C, SIGTERM and SIGHUP: stops a session, cancels a run, and at last exits the process.
#[derive(Debug, Default)]
pub(super) struct InterruptHandler {
    pub(super) cancel: CancellationToken,
    pub(super) stop: CancellationToken,
    pub(super) is_session: Arc<AtomicBool>,
    pub(super) waiting_for_job: Arc<Mutex<Option<RunId>>>,
    pub(super) purpose: Purpose,
    pub(super) sent: SentSignal,
}

/// What is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Purpose {
    /// All that there is to do. A session that is stopped writes its report.
    #[default]
    Whole,
    /// One message of a conversation. It is cancelled at once, for the user goes on.
    OneMessage,
}

/// Which signal came while a run was driven.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentSignal {
    terminated: Arc<AtomicBool>,
}

impl SentSignal {
    /// Whether the program was asked to end, not only with Ctrl-C.
    pub(crate) fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::Relaxed)
    }
}

impl InterruptHandler {
    /// The first Ctrl-C stops a session, which then writes its report. The next one, or the first one of a run, cancels.
    /// One more exits the process; the run can then be resumed. A run that only waits for jobs is not cancelled by the first.
    pub(super) async fn listen(self, display: SharedDisplay) {
        // One stream for all signals: none is lost between two of them.
        let Ok(mut signals) = EndSignals::new() else { return };
        if signals.next().await == EndSignal::Terminate {
            self.sent.terminated.store(true, Ordering::Relaxed);
        }
        let waiting = self.waiting_for_job.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(run) = waiting {
            lock(&display).end();
            print_message(&format!(
                "the run waits for a job and is saved: continue with `reknit runs resume {run}`, or cancel it with \
                 `reknit runs cancel {run}`\n"
            ));
            std::process::exit(130);
        }
        if self.purpose == Purpose::Whole && self.is_session.load(Ordering::Relaxed) {
            lock(&display).set_note(STOP_NOTE);
            self.stop.cancel();
            signals.next().await;
        }
        lock(&display).set_note(if self.purpose == Purpose::Whole { CANCEL_NOTE } else { STOP_MESSAGE_NOTE });
        self.cancel.cancel();
        signals.next().await;
        std::process::exit(130);
    }
}
