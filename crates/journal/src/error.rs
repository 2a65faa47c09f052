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
    /// The id is already in use.
    #[error("there is already a run `{0}`")]
    Exists(RunId),
    /// The id was in use by a run that was pruned or deleted since.
    #[error("the id `{}` belongs to a run that was removed; its status was {}", .0.run, .0.status)]
    Pruned(Box<PrunedRun>),
    /// The budget of its owner does not cover it.
    #[error(transparent)]
    OverBudget(OverBudget),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an amount was not reserved.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReserveError {
    /// The limit does not cover it.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not deleted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DeleteError {
    /// The run does not exist.
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// A process drives the run.
    #[error("run `{run}` is driven by {holder}")]
    Held {
        /// The run.
        run: RunId,
        /// The process that drives it.
        holder: Holder,
    },
    /// The run has not ended.
    #[error("run `{0}` has not ended")]
    Unfinished(RunId),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not leased.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The run does not exist.
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// Another process drives the run.
    #[error("run `{run}` is driven by {holder}")]
    Held {
        /// The run.
        run: RunId,
        /// The process that drives it.
        holder: Holder,
        /// When the lease expires, in milliseconds since 1970.
        until_ms: i64,
        /// The epoch of the lease, which [`Journal::acquire_forced`](crate::Journal::acquire_forced) takes.
        epoch: u64,
    },
    /// The run has ended.
    #[error("run `{run}` has ended ({status})")]
    Ended {
        /// The run.
        run: RunId,
        /// The status with which it ended.
        status: String,
    },
    /// The run has not ended, or not in the state that the caller has seen: it cannot be opened again.
    #[error("run `{0}` goes on, so it cannot be opened again")]
    NotEnded(RunId),
    /// The budget of whoever opens it again does not cover it.
    #[error(transparent)]
    OverBudget(OverBudget),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an operation that needs the current lease was refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FenceError {
    /// The lease is no longer the current one: stop driving the run.
    #[error("the lease on run `{run}` is lost{}", taken_over(.by.as_ref()))]
    Fenced {
        /// The run.
        run: RunId,
        /// The current holder; `None` if the lease was given back or the run has ended.
        by: Option<Holder>,
    },
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an append was refused. It wrote nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The lease is no longer the current one: stop driving the run.
    #[error("the lease on run `{run}` is lost{}", taken_over(.by.as_ref()))]
    Fenced {
        /// The run.
        run: RunId,
        /// The current holder; `None` if the lease was given back or the run has ended.
        by: Option<Holder>,
    },
    /// The run does not have the expected number of events: restore it from the journal.
    #[error("run `{run}` has {len} events, not {expected}")]
    Conflict {
        /// The run.
        run: RunId,
        /// How many events it has.
        len: u64,
        /// How many events the caller expected.
        expected: u64,
    },
    /// A signal to consume is not pending in the inbox of the run.
    #[error("signal {id} is not pending in the inbox of run `{run}`")]
    SignalNotPending {
        /// The run.
        run: RunId,
        /// The signal.
        id: SignalId,
    },
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a signal was not sent.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The run does not exist.
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// The run has ended, so no driver would read the signal.
    #[error("run `{run}` has ended ({status})")]
    Ended {
        /// The run.
        run: RunId,
        /// The status with which it ended.
        status: String,
    },
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunReadError {
    /// The run does not exist.
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

fn taken_over(by: Option<&Holder>) -> String {
    by.map(|holder| format!(": {holder} drives it now")).unwrap_or_default()
}
