//! Errors, one type for each kind of operation.

mod open;
pub(crate) mod storage;

use reknit_protocol::RunId;

use crate::{Holder, OverBudget, PrunedRun, SignalId};
pub use open::OpenError;
pub use storage::{Damage, SqliteError, StorageError};

/// Why a run was not created.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    #[error("there is already a run `{0}`")]
    Exists(RunId),
    #[error("the id `{}` belongs to a run that was removed; its status was {}", .0.run, .0.status)]
    Pruned(Box<PrunedRun>),
    #[error(transparent)]
    OverBudget(OverBudget),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an amount was not reserved.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReserveError {
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not deleted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DeleteError {
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    #[error("run `{run}` is driven by {holder}")]
    Held { run: RunId, holder: Holder },
    #[error("run `{0}` has not ended")]
    Unfinished(RunId),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not leased.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    #[error("run `{run}` is driven by {holder}")]
    Held {
        run: RunId,
        holder: Holder,
        /// When the lease expires, in milliseconds since 1970.
        until_ms: i64,
        /// The epoch of the lease, which [`Journal::acquire_forced`](crate::Journal::acquire_forced) takes.
        epoch: u64,
    },
    #[error("run `{run}` has ended ({status})")]
    Ended { run: RunId, status: String },
    /// The run has not ended, or not in the state that the caller has seen: it cannot be opened again.
    #[error("run `{0}` goes on, so it cannot be opened again")]
    NotEnded(RunId),
    #[error(transparent)]
    OverBudget(OverBudget),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an operation that needs the current lease was refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FenceError {
    /// The lease is no longer the current one: stop driving the run.
    #[error("the lease on run `{run}` is lost{}", taken_over(.by.as_ref()))]
    Fenced {
        run: RunId,
        /// The current holder; `None` if the lease was given back or the run has ended.
        by: Option<Holder>,
    },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an append was refused. It wrote nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    #[error("the lease on run `{run}` is lost{}", taken_over(.by.as_ref()))]
    Fenced {
        run: RunId,
        /// The current holder; `None` if the lease was given back or the run has ended.
        by: Option<Holder>,
    },
    /// The run does not have the expected number of events: restore it from the journal.
    #[error("run `{run}` has {len} events, not {expected}")]
    Conflict { run: RunId, len: u64, expected: u64 },
    #[error("signal {id} is not pending in the inbox of run `{run}`")]
    SignalNotPending { run: RunId, id: SignalId },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a signal was not sent.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// The run has ended, so no driver would read the signal.
    #[error("run `{run}` has ended ({status})")]
    Ended { run: RunId, status: String },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunReadError {
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

fn taken_over(by: Option<&Holder>) -> String {
    by.map(|holder| format!(": {holder} drives it now")).unwrap_or_default()
}
