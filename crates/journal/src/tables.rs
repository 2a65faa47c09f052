//! What a store keeps: the same tables in `SQLite` and in memory. The rules above them are written once, in `rules`.

use reknit_protocol::RunId;

use crate::blob::Folded;
use crate::error::storage::Stored;
use crate::{Claim, Due, Holder, Lesson, Letter, Record, RunFilter, Signal, SignalId, Snapshot};

/// Which run, inside one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunKey(pub(crate) i64);

/// What changes about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunState {
    pub(crate) updated_ms: i64,
    pub(crate) status: Option<String>,
    pub(crate) len: u64,
    pub(crate) epoch: u64,
    /// Who holds the run, and the end of the term.
    pub(crate) lease: Option<(Holder, i64)>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRow {
    pub(crate) key: RunKey,
    pub(crate) run: RunId,
    pub(crate) title: String,
    pub(crate) created_ms: i64,
    pub(crate) state: RunState,
}

/// Reading. All calls on one value see the same state of the store.
pub(crate) trait Views {
    fn run(&self, run: &RunId) -> Stored<Option<RunRow>>;
    fn runs(&self, filter: &RunFilter) -> Stored<Vec<RunRow>>;
    /// In the order of their text.
    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> Stored<Vec<RunId>>;
    /// In order, with their blobs put back.
    fn events(&self, key: RunKey, from_seq: u64) -> Stored<Vec<Record>>;
    fn due(&self, key: RunKey) -> Stored<Vec<(u64, Due)>>;
    /// In the order of their text.
    fn claims(&self, key: RunKey) -> Stored<Vec<String>>;
    /// In order, those after `after`.
    fn unread(&self, key: RunKey, after: SignalId) -> Stored<Vec<Letter>>;
    fn snapshot(&self, key: RunKey) -> Stored<Option<Snapshot>>;
    /// The newest first, then in the order of their text.
    fn lessons(&self, limit: u32) -> Stored<Vec<Lesson>>;
}

/// Writing. Whoever calls has checked everything before the first write: a store undoes nothing for a rule's sake.
pub(crate) trait Tables: Views {
    fn add_run(&mut self, run: &RunId, title: &str, created_ms: i64, state: &RunState) -> Stored<RunKey>;
    fn set_run(&mut self, key: RunKey, state: &RunState) -> Stored<()>;
    fn add_event(&mut self, key: RunKey, seq: u64, event: &Folded) -> Stored<()>;
    fn add_claim(&mut self, key: RunKey, effect: &str, epoch: u64) -> Stored<Claim>;
    fn add_signal(&mut self, key: RunKey, signal: &Signal, at_ms: i64) -> Stored<SignalId>;
    /// Marks a signal as consumed by the events up to a length of `len`.
    fn consume(&mut self, key: RunKey, id: SignalId, len: u64) -> Stored<()>;
    fn set_snapshot(&mut self, key: RunKey, snapshot: &Snapshot) -> Stored<()>;
    /// In place of an older one for the same parameter.
    fn set_lesson(&mut self, lesson: &Lesson, at_ms: i64) -> Stored<()>;
}
