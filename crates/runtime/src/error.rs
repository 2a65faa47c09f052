//! Why a driver stops driving a run.

use reknit_engine::EngineKind;
use reknit_journal::{AppendError, CreateError, FenceError, LeaseError, OpenError, RunReadError, StorageError};
use reknit_protocol::RunId;

use crate::journal_results::ResultError;
use crate::remote_engine::RemoteError;
use crate::replay::RestoreError;

/// Why a driver stopped driving a run. All committed events are kept, and the run can be resumed. After a [`RestoreError`] it is
/// parked: only another build can resume it, or a person who accepts what this one decides.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("cannot create the run")]
    Create(#[from] CreateError),
    /// There is a run with this id that was started with another request.
    #[error("run `{run}` was started with another request: its digest is {stored}, and this one is {given}")]
    OtherRequest {
        run: RunId,
        /// The digest of the request with which it was started.
        stored: String,
        /// The digest of the request with which it was to be started now.
        given: String,
    },
    /// There is a run with this id that another owner has started, or it was removed and may have been one of another owner. The text
    /// is the same whatever was started.
    #[error("the id `{0}` is in use")]
    OtherOwner(RunId),
    #[error("run `{run}` cannot be retried: {reason}")]
    NotRetriable { run: RunId, reason: &'static str },
    #[error("run `{0}` is not the session of an agent, so nobody can talk to it")]
    NotASession(RunId),
    #[error(transparent)]
    Lease(#[from] LeaseError),
    #[error(transparent)]
    Fence(#[from] FenceError),
    #[error("cannot append to the journal")]
    Append(#[from] AppendError),
    /// The outcomes of effects could not be appended to the journal. That is tried once more before the run is given up; if it
    /// fails again, they are lost to the run.
    #[error("cannot store the outcome of {} in the journal", .effects.join(", "))]
    NotStored { effects: Vec<String>, source: AppendError },
    #[error("cannot load a result of the run from the journal")]
    Result(#[from] ResultError),
    #[error(transparent)]
    Read(#[from] RunReadError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("cannot restore the run from its events")]
    Restore(#[from] RestoreError),
    /// The run needs what this process does not have. Nothing was done.
    #[error("{} is not configured here; go on with run `{run}` where it is", .missing.join(", "))]
    MissingRequirements { run: RunId, missing: Vec<String> },
    /// The future that drives the run was dropped. Nobody sees this, but the journal and the log.
    #[error("nobody waits for the run any more")]
    Abandoned,
    /// The engine that drives the run elsewhere does not do what it was asked for.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Another kind of engine drives the run. If this process did, calls would be made twice.
    #[error("run `{run}` {}", of_engine(*engine))]
    OtherEngine { run: RunId, engine: EngineKind },
    #[error("the task of an effect panicked: {0}")]
    Task(String),
}

fn of_engine(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Remote => "is driven by a remote engine: go on with `reknit serve --engine restate=URL`",
        EngineKind::Embedded => "is driven by the process that has the journal: go on without `--engine`",
    }
}
