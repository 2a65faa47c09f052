//! Why a run is not driven on.

use reknit_journal::{AppendError, CreateError, FenceError, LeaseError, OpenError, ReadError, StorageError};

use crate::record::RestoreError;

/// Why a run is not driven on. What was committed stays, and the run can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The run cannot be created.
    #[error("the run cannot be created")]
    Create(#[from] CreateError),
    /// Somebody else drives it, or there is no such run.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// Somebody else took it over.
    #[error(transparent)]
    Fence(#[from] FenceError),
    /// What happened cannot be written down.
    #[error("what happened cannot be written to the journal")]
    Append(#[from] AppendError),
    /// The run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal's file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The run read back is not the run that was written.
    #[error("the run cannot be restored from its events")]
    Restore(#[from] RestoreError),
    /// A task ended without an answer.
    #[error("a task of the run ended without an answer: {0}")]
    Task(String),
}
