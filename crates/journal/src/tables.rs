//! The tables that every store has, in `SQLite` and in memory. The rules above them are written once, in `rules`.

use reknit_protocol::RunId;

use crate::blob::{SplitEvent, SplitText, split_text};
use crate::error::storage::StoreResult;
use crate::retention::EndOrder;
use crate::spending::RunSpending;
use crate::{
    ClaimOutcome, DueEffect, InboxMessage, LearnedMapping, PrunedRun, RunFilter, RunSignal, RunSummary, SignalId,
    Snapshot, Spending, StoreSize, StoredEvent, StoredKey, StoredMapping,
};

/// The key of a run inside one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunKey(pub(crate) i64);

/// A row of the table of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRow {
    pub(crate) key: RunKey,
    pub(crate) summary: RunSummary,
}

/// A snapshot whose body has its long values cut out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitSnapshot {
    pub(crate) len: u64,
    pub(crate) machine_version: u32,
    pub(crate) body: SplitText,
}

impl From<Snapshot> for SplitSnapshot {
    fn from(Snapshot { len, machine_version, body }: Snapshot) -> Self {
        Self { len, machine_version, body: split_text(body) }
    }
}

/// Reading. All calls on one value see the same state of the store.
pub(crate) trait ReadTables {
    fn run(&self, run: &RunId) -> StoreResult<Option<RunRow>>;
    fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>>;
    /// The digest of the request of a run; `None` if a version that did not store it has created the run.
    fn request_of(&self, key: RunKey) -> StoreResult<Option<String>>;
    /// The runs that may be pruned, the ones that ended first before the others.
    fn first_ended(&self, limit: u32) -> StoreResult<Vec<RunRow>>;
    /// The last run that may be pruned if the last `keep` are kept.
    fn end_order_beyond(&self, keep: u64) -> StoreResult<Option<EndOrder>>;
    /// How many runs may be pruned.
    fn ended_count(&self) -> StoreResult<u64>;
    /// How many of them have ended up to this one.
    fn ended_up_to(&self, end: EndOrder) -> StoreResult<u64>;
    fn pruned_run(&self, run: &RunId) -> StoreResult<Option<PrunedRun>>;
    fn size(&self) -> StoreResult<StoreSize>;
    /// Business keys whose window ended until then.
    fn expired_keys(&self, until_ms: i64, limit: u32) -> StoreResult<Vec<String>>;
    fn run_count(&self) -> StoreResult<u64>;
    /// Sorted by id.
    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> StoreResult<Vec<RunId>>;
    /// Sorted by id. Looks at every run.
    fn runs_with_suffix(&self, suffix: &str, limit: u32) -> StoreResult<Vec<RunId>>;
    /// At most `limit` events from `from_seq` on, in order and with complete bodies.
    fn events(&self, key: RunKey, from_seq: u64, limit: u32) -> StoreResult<Vec<StoredEvent>>;
    /// The positions of the events of this kind from `from_seq` on, in order.
    fn positions_of_kind(&self, key: RunKey, kind: &str, from_seq: u64) -> StoreResult<Vec<u64>>;
    fn due_effects(&self, key: RunKey) -> StoreResult<Vec<(u64, DueEffect)>>;
    /// Sorted by effect.
    fn claims(&self, key: RunKey) -> StoreResult<Vec<String>>;
    /// The signals after `after` that no event has consumed, in order.
    fn pending_messages(&self, key: RunKey, after: SignalId) -> StoreResult<Vec<InboxMessage>>;
    fn snapshot(&self, key: RunKey) -> StoreResult<Option<Snapshot>>;
    /// The result that was stored with the ending of the run.
    fn ending(&self, key: RunKey, len: u64) -> StoreResult<Option<String>>;
    /// Accepted ones first, then newest first, then sorted by producer, consumer and parameter.
    fn learned_mappings(&self, limit: u32) -> StoreResult<Vec<LearnedMapping>>;
    fn business_key(&self, key: &str) -> StoreResult<Option<StoredKey>>;
    /// The newest first, then sorted by key.
    fn business_keys(&self) -> StoreResult<Vec<StoredKey>>;
    fn spending(&self, account: &str, month: &str) -> StoreResult<Spending>;
    fn run_spending(&self, key: RunKey) -> StoreResult<Option<RunSpending>>;
}

/// Writing. The rule that calls these has finished its checks before the first write: a store never undoes a write
/// because a rule refuses.
pub(crate) trait WriteTables: ReadTables {
    fn add_run(&mut self, run: &RunSummary, request: &str) -> StoreResult<RunKey>;
    /// Removes the run with all its rows. Returns how many blobs no other run had.
    fn remove_run(&mut self, key: RunKey) -> StoreResult<u64>;
    fn add_pruned(&mut self, pruned: &PrunedRun) -> StoreResult<()>;
    /// Gives unused pages back to the system. Returns their bytes.
    fn release_pages(&mut self, pages: u32) -> StoreResult<u64>;
    /// Replaces what may change: not the id, the title, the owner and the time of creation.
    fn set_run(&mut self, key: RunKey, run: &RunSummary) -> StoreResult<()>;
    fn add_event(&mut self, key: RunKey, seq: u64, event: &SplitEvent) -> StoreResult<()>;
    /// `len` is how many events the run has.
    fn add_claim(&mut self, key: RunKey, len: u64, effect: &str, epoch: u64) -> StoreResult<ClaimOutcome>;
    fn add_signal(&mut self, key: RunKey, signal: &RunSignal, at_ms: i64) -> StoreResult<SignalId>;
    /// Marks a signal as consumed by an append that made the run `len` events long.
    fn consume(&mut self, key: RunKey, id: SignalId, len: u64) -> StoreResult<()>;
    fn set_snapshot(&mut self, key: RunKey, snapshot: &SplitSnapshot) -> StoreResult<()>;
    fn remove_snapshot(&mut self, key: RunKey) -> StoreResult<()>;
    /// `len` is how many events the run has.
    fn set_ending(&mut self, key: RunKey, len: u64, result: &SplitText) -> StoreResult<()>;
    fn set_spending(&mut self, account: &str, month: &str, spending: Spending) -> StoreResult<()>;
    fn set_run_spending(&mut self, key: RunKey, spending: Option<&RunSpending>) -> StoreResult<()>;
    /// Replaces what is stored under the same key.
    fn set_business_key(&mut self, key: &StoredKey) -> StoreResult<()>;
    /// False if it is not there.
    fn remove_business_key(&mut self, key: &str) -> StoreResult<bool>;
    /// Replaces an older mapping for the same producer, consumer and parameter, unless that one was accepted.
    fn set_learned_mapping(&mut self, mapping: &StoredMapping, at_ms: i64) -> StoreResult<()>;
    /// Marks exactly this mapping as accepted; false if it is not there.
    fn accept_mapping(&mut self, mapping: &StoredMapping, at_ms: i64) -> StoreResult<bool>;
    /// Removes exactly this mapping; false if it is not there.
    fn remove_mapping(&mut self, mapping: &StoredMapping) -> StoreResult<bool>;
}
