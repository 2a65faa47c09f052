//! Operations that read. They run concurrently with the writer and need no lease.

use reknit_protocol::RunId;

use super::Journal;
use crate::checked_events::{checked_events, events_of_kind};
use crate::error::storage::StoreResult;
use crate::tables::{ReadTables, RunRow};
use crate::{
    DueEffect, EventsOfKind, InboxMessage, LearnedMapping, Mailbox, RunFilter, RunReadError, RunSummary, SignalId,
    Snapshot, Spending, StorageError, StoredEvent, StoredKey,
};

impl Journal {
    pub async fn exists(&self, run: &RunId) -> Result<bool, StorageError> {
        let run = run.clone();
        self.read(move |tables| Ok(tables.run(&run)?.is_some())).await
    }

    pub async fn summary(&self, run: &RunId) -> Result<RunSummary, RunReadError> {
        self.read_run(run, |_, row| Ok(row.summary)).await
    }

    /// The digest of the request with which a run was created; `None` if the version that created it did not store one.
    pub async fn request_of(&self, run: &RunId) -> Result<Option<String>, RunReadError> {
        self.read_run(run, |tables, row| tables.request_of(row.key)).await
    }

    /// Summaries of runs, newest first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, StorageError> {
        let filter = filter.clone();
        self.read(move |tables| Ok(tables.runs(&filter)?.into_iter().map(|row| row.summary).collect())).await
    }

    pub async fn spending(&self, account: &str, month: &str) -> Result<Spending, StorageError> {
        let (account, month) = (account.to_owned(), month.to_owned());
        self.read(move |tables| tables.spending(&account, &month)).await
    }

    pub async fn run_count(&self) -> Result<u64, StorageError> {
        self.read(|tables| tables.run_count()).await
    }

    /// At most `limit` runs that somebody who types only a part of an id can mean: see [`RunId::can_be_meant_by`].
    pub async fn runs_meant_by(&self, part: &str, limit: u32) -> Result<Vec<RunId>, StorageError> {
        let part = part.to_owned();
        self.read(move |tables| {
            let mut found = tables.runs_with_prefix(&part, limit)?;
            if part.len() >= RunId::SHORT_LENGTH {
                let others = tables.runs_with_suffix(&part, limit)?;
                found.extend(others.into_iter().filter(|run| !run.as_str().starts_with(&part)));
                found.truncate(limit as usize);
            }
            Ok(found)
        })
        .await
    }

    /// The events of a run from position `from_seq` on, in order.
    pub async fn events(&self, run: &RunId, from_seq: u64) -> Result<Vec<StoredEvent>, RunReadError> {
        self.events_page(run, from_seq, u32::MAX).await
    }

    /// At most `limit` events of a run from position `from_seq` on, in order: a long run need not be in memory at once.
    pub async fn events_page(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<StoredEvent>, RunReadError> {
        self.read_run(run, move |tables, row| checked_events(tables, &row, from_seq, limit)).await
    }

    /// The event at position `seq`, for callers that cannot wait asynchronously. Blocks on the disk.
    pub fn event_blocking(&self, run: &RunId, seq: u64) -> Result<StoredEvent, RunReadError> {
        let id = run.clone();
        let found = self.read_blocking(move |tables| {
            tables.run(&id)?.map(|row| checked_events(tables, &row, seq, 1)).transpose()
        })?;
        let missing = || RunReadError::NoSuchRun(run.clone());
        found.and_then(|events| events.into_iter().next()).ok_or_else(missing)
    }

    /// The position of the last event of this kind.
    pub async fn last_event_of_kind(&self, run: &RunId, kind: &'static str) -> Result<Option<u64>, RunReadError> {
        self.read_run(run, move |tables, row| Ok(tables.positions_of_kind(row.key, kind, 0)?.last().copied())).await
    }

    /// The events of one kind, in order.
    pub async fn events_of_kind(&self, run: &RunId, which: EventsOfKind) -> Result<Vec<StoredEvent>, RunReadError> {
        self.read_run(run, move |tables, row| events_of_kind(tables, &row, which)).await
    }

    /// The effects that events made due, each with the position of its event, in order.
    pub async fn due_effects(&self, run: &RunId) -> Result<Vec<(u64, DueEffect)>, RunReadError> {
        self.read_run(run, |tables, row| tables.due_effects(row.key)).await
    }

    /// The ids of the claimed effects, sorted.
    pub async fn claims(&self, run: &RunId) -> Result<Vec<String>, RunReadError> {
        self.read_run(run, |tables, row| tables.claims(row.key)).await
    }

    /// The signals that no event has consumed yet, in the order in which they were sent.
    pub async fn inbox(&self, run: &RunId) -> Result<Vec<InboxMessage>, RunReadError> {
        self.inbox_after(run, SignalId(0)).await
    }

    pub(crate) async fn inbox_after(&self, run: &RunId, after: SignalId) -> Result<Vec<InboxMessage>, RunReadError> {
        self.read_run(run, move |tables, row| tables.pending_messages(row.key, after)).await
    }

    /// Subscribes to the inbox of a run, whichever process sends. Keep the mailbox for as long as the run is driven.
    pub fn mailbox(&self, run: &RunId) -> Mailbox {
        Mailbox::new(self.clone(), run.clone(), self.mailboxes.register(run))
    }

    pub async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, RunReadError> {
        self.read_run(run, |tables, row| tables.snapshot(row.key)).await
    }

    /// The result that was stored with the ending of a run ([`RunEnding::result`](crate::RunEnding)). `None` for a run that has
    /// not ended, and for one that an older build ended.
    pub async fn ending(&self, run: &RunId) -> Result<Option<String>, RunReadError> {
        let ended = |row: &RunRow| row.summary.status.is_some();
        self.read_run(
            run,
            move |tables, row| if ended(&row) { tables.ending(row.key, row.summary.len) } else { Ok(None) },
        )
        .await
    }

    /// The mappings that earlier runs learned: at most `limit`, accepted ones first, then the newest.
    pub async fn learned_mappings(&self, limit: u32) -> Result<Vec<LearnedMapping>, StorageError> {
        self.read(move |tables| tables.learned_mappings(limit)).await
    }

    /// The same for a run of this owner: those that its own runs learned, and those that a person has accepted for all.
    pub async fn learned_mappings_of(
        &self,
        owner: Option<&str>,
        limit: u32,
    ) -> Result<Vec<LearnedMapping>, StorageError> {
        let all = self.learned_mappings(u32::MAX).await?.into_iter();
        let own = all.filter_map(|learned| learned.for_owner(owner));
        Ok(own.take(limit as usize).collect())
    }

    /// The business keys, the newest first. A key whose window is over counts as free.
    pub async fn business_keys(&self) -> Result<Vec<StoredKey>, StorageError> {
        self.read(|tables| tables.business_keys()).await
    }

    async fn read_run<T: Send + 'static>(
        &self,
        run: &RunId,
        work: impl FnOnce(&dyn ReadTables, RunRow) -> StoreResult<T> + Send + 'static,
    ) -> Result<T, RunReadError> {
        let id = run.clone();
        let found = self.read(move |tables| tables.run(&id)?.map(|row| work(tables, row)).transpose()).await?;
        found.ok_or_else(|| RunReadError::NoSuchRun(run.clone()))
    }
}
