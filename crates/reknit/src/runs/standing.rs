//! How a run stands, in one word for lists, pages and programs.

use reknit_journal::{Liveness, RunSummary};

/// How it ended, or what it is doing.
pub(super) fn standing(run: &RunSummary) -> &str {
    match (&run.status, &run.lease) {
        (Some(status), _) => status,
        (None, Some(held)) if held.holder.liveness() != Liveness::Dead => "running",
        // Who waits for a person gives the run back; who dies does not.
        (None, None) => "waiting",
        (None, Some(_)) => "stopped",
    }
}
