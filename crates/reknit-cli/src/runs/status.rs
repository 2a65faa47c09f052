//! The status of a run, in one word.

use reknit_journal::{Liveness, RunSummary};

/// The final status of a run, or `running`, `waiting` (for approval), `stopped` or `parked`.
pub(crate) fn status_word(run: &RunSummary) -> &str {
    match (&run.status, &run.lease) {
        (Some(status), _) => status,
        (None, None) if run.parked.is_some() => "parked",
        (None, Some(lease)) if lease.holder.liveness() != Liveness::Dead => "running",
        // A driver releases its lease when the run waits for approval, and keeps it when it crashes.
        (None, None) => "waiting",
        (None, Some(_)) => "stopped",
    }
}
