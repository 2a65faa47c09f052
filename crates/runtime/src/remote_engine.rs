//! An engine elsewhere that keeps runs and drives them, as this process sees it.

use reknit_engine::Event;
use reknit_journal::DueEffect;
use reknit_protocol::RunId;
use reknit_tools::BoxFuture;

/// An engine that keeps and drives runs on other machines. A driver with one begins runs there, passes on what people decide, and
/// copies their events into its own journal: everything that reads the journal works as if this process drove them.
pub trait RemoteEngine: Send + Sync + std::fmt::Debug + 'static {
    /// Begins a run with its first event, as JSON, and returns events after it that have happened by then. To begin it again with the
    /// same event changes nothing.
    fn begin<'a>(&'a self, run: &'a RunId, first: &'a str) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>>;

    /// The events of a run from this position on, or the first of them; none if nothing has happened since.
    fn events<'a>(&'a self, run: &'a RunId, from: u64) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>>;

    /// Passes on what happened here, such as a decision. An event with the same `id` counts once. Returns how many events the run had
    /// when this was handled: with it, unless the run does not wait for it any more.
    fn send<'a>(&'a self, run: &'a RunId, id: &'a str, event: &'a Event) -> BoxFuture<'a, Result<u64, RemoteError>>;
}

/// An event of a run that an engine elsewhere drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEvent {
    /// The event, as JSON.
    pub body: String,
    /// The effects that it made due there.
    pub due: Vec<DueEffect>,
}

/// Why an engine elsewhere does not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// It cannot be reached, or cannot answer now. Its runs may go on meanwhile.
    #[error("cannot reach the engine at {address}: {problem}")]
    Unreachable { address: String, problem: String },
    /// It will not do this, whenever it is asked.
    #[error("the engine at {address} refuses: {problem}")]
    Refused { address: String, problem: String },
    /// It does not have the run: its data was lost, or the run was removed there.
    #[error("the engine at {address} does not have this run: {problem}")]
    NotThere { address: String, problem: String },
    /// It cannot do this; the engine of this process can.
    #[error("{0} need the engine of this process: start without `--engine`")]
    Unsupported(&'static str),
}
