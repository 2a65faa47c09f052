//! What can go wrong, by what the caller was doing.

mod open;
pub(crate) mod storage;

use reknit_protocol::RunId;

use crate::{Holder, SignalId};
pub use open::OpenError;
pub use storage::{Damage, SqliteError, StorageError};

/// Why a run was not created.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    /// Ids are used once.
    #[error("there is already a run `{run}`")]
    Exists {
        /// The run that is there.
        run: RunId,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a run was not leased.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LeaseError {
    /// There is nothing to lease.
    #[error("there is no run `{run}`")]
    NoSuchRun {
        /// The run that was asked for.
        run: RunId,
    },
    /// Somebody else drives the run.
    #[error("run `{run}` is driven by {holder}")]
    Held {
        /// The run that was asked for.
        run: RunId,
        /// Who drives it.
        holder: Holder,
        /// The end of the term, in milliseconds since 1970.
        until_ms: i64,
        /// The epoch of the lease, which [`Journal::acquire_forced`](crate::Journal::acquire_forced) wants.
        epoch: u64,
    },
    /// There is nothing left to drive.
    #[error("run `{run}` has ended ({status})")]
    Ended {
        /// The run that was asked for.
        run: RunId,
        /// How it ended.
        status: String,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why something that only the holder of a lease may do was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FenceError {
    /// The lease is not the run's newest: stop driving it.
    #[error("the lease on run `{run}` is lost{}", taken(.by.as_ref()))]
    Fenced {
        /// The run.
        run: RunId,
        /// Who holds it now; nobody if the lease was given back or the run has ended.
        by: Option<Holder>,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why nothing was appended.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The lease is not the run's newest: stop driving it.
    #[error("the lease on run `{run}` is lost{}", taken(.by.as_ref()))]
    Fenced {
        /// The run.
        run: RunId,
        /// Who holds it now; nobody if the lease was given back or the run has ended.
        by: Option<Holder>,
    },
    /// The run has another number of events than the caller believes: restore it from the journal.
    #[error("run `{run}` has {len} events, not {expected}")]
    Conflict {
        /// The run.
        run: RunId,
        /// How many it has.
        len: u64,
        /// How many the caller expected.
        expected: u64,
    },
    /// A signal that is to be consumed is not unread in the run's inbox.
    #[error("signal {id} is not waiting in the inbox of run `{run}`")]
    NotWaiting {
        /// The run.
        run: RunId,
        /// The signal.
        id: SignalId,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a signal was not sent.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SendError {
    /// There is nobody to tell.
    #[error("there is no run `{run}`")]
    NoSuchRun {
        /// The run that was asked for.
        run: RunId,
    },
    /// Nobody will read it.
    #[error("run `{run}` has ended ({status})")]
    Ended {
        /// The run that was asked for.
        run: RunId,
        /// How it ended.
        status: String,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why nothing was read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// There is nothing to read.
    #[error("there is no run `{run}`")]
    NoSuchRun {
        /// The run that was asked for.
        run: RunId,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

fn taken(by: Option<&Holder>) -> String {
    by.map(|holder| format!(": {holder} drives it now")).unwrap_or_default()
}
