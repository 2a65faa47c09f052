//! A run as its object keeps it: a head, the newest events, and pages and snapshots behind them. What is stored grows linearly with
//! the events: each is stored once, and a snapshot is written when the events since the last one are half as large as it.

use std::io;

use reknit_engine::{
    ApplyError, Ending, Event, MACHINE_VERSION, MIGRATIONS, Machine, MigrationError, migrate_snapshot,
};
use reknit_protocol::{Sha256, hex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::advance::{advance, begin};
use crate::blobs::{BlobStore, MAX_INLINE_BYTES, StoredJson, digest_of};
use crate::messages::{EventRow, PageRef, RunHead, SnapshotRef, StoredRow};

const MAX_TAIL_EVENTS: usize = 32;
/// The size of the tail at which it becomes a page.
const MAX_TAIL_BYTES: usize = 2 * MAX_INLINE_BYTES;
/// The size of the events after the last snapshot at which another one is written, at least.
const MIN_BYTES_PER_SNAPSHOT: usize = 256 * 1024;
/// The size of the events that a reader gets at once.
const PAGE_BYTES: usize = 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) head: RunHead,
    pub(crate) tail: Vec<StoredRow>,
}

/// Why this build cannot go on with a run. Another build may, so the invocation is tried again and nothing is lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RestoreFailure {
    #[error("a blob of the run cannot be read or written")]
    Blob(#[from] io::Error),
    #[error("event {seq} cannot be read")]
    Unreadable { seq: u64, source: serde_json::Error },
    #[error("event {seq} cannot be applied")]
    Refused { seq: u64, source: ApplyError },
    #[error("the run has no events")]
    Empty,
    #[error("the snapshot of the run cannot be used")]
    Migration(#[from] MigrationError),
    #[error("this build decides otherwise at event {seq}: effects were due that are not, or the other way round")]
    Mismatch { seq: u64 },
}

impl KeptRun {
    /// A run without events. `first` is the text of its first one.
    pub(crate) fn new(first: &str) -> Self {
        let head = RunHead {
            first: digest_of(first),
            len: 0,
            chain: String::new(),
            pages: Vec::new(),
            snapshot: None,
            bytes_after_snapshot: 0,
            status: None,
        };
        Self { head, tail: Vec::new() }
    }

    /// Restores the machine: from the snapshot and the events after it. Fails if other effects become due than before.
    pub(crate) async fn restore(&self, blobs: &dyn BlobStore) -> Result<Machine, RestoreFailure> {
        let mut machine = None;
        if let Some(snapshot) = &self.head.snapshot {
            let text = snapshot.machine.load(blobs).await?;
            let text = migrate_snapshot(&text, snapshot.machine_version, MIGRATIONS)?;
            let refused = |source| RestoreFailure::Refused { seq: snapshot.len, source };
            machine = Some(Machine::restore(&text).map_err(refused)?);
        }
        for (seq, row) in self.rows_from(self.head.snapshot_len(), blobs).await? {
            let text = row.body.load(blobs).await?;
            let event: Event =
                serde_json::from_str(&text).map_err(|source| RestoreFailure::Unreadable { seq, source })?;
            let refused = |source| RestoreFailure::Refused { seq, source };
            let due = if let Some(machine) = &mut machine {
                advance(machine, &event).map_err(refused)?.due
            } else {
                let (begun, consequences) = begin(&event).map_err(refused)?;
                machine = Some(begun);
                consequences.due
            };
            if due != row.due {
                return Err(RestoreFailure::Mismatch { seq });
            }
        }
        machine.ok_or(RestoreFailure::Empty)
    }

    /// The rows from a position on, in order, each with its position.
    async fn rows_from(&self, from: u64, blobs: &dyn BlobStore) -> Result<Vec<(u64, StoredRow)>, RestoreFailure> {
        let (mut rows, mut start) = (Vec::new(), 0);
        for page in &self.head.pages {
            if page.to > from {
                let unreadable = |source| RestoreFailure::Unreadable { seq: start, source };
                let stored: Vec<StoredRow> = serde_json::from_str(&page.rows.load(blobs).await?).map_err(unreadable)?;
                rows.extend((start..).zip(stored));
            }
            start = page.to;
        }
        rows.extend((start..).zip(self.tail.iter().cloned()));
        rows.retain(|(seq, _)| *seq >= from);
        Ok(rows)
    }

    /// The events from a position on, as a reader gets them: at least one if there is one, and about a mebibyte at most.
    pub(crate) async fn events_from(&self, from: u64, blobs: &dyn BlobStore) -> Result<Vec<EventRow>, RestoreFailure> {
        let (mut events, mut bytes) = (Vec::new(), 0);
        for (seq, row) in self.rows_from(from, blobs).await? {
            bytes += row.body.bytes();
            if bytes > PAGE_BYTES && !events.is_empty() {
                break;
            }
            let text = row.body.load(blobs).await?;
            let body = RawValue::from_string(text).map_err(|source| RestoreFailure::Unreadable { seq, source })?;
            events.push(EventRow { body, due: row.due });
        }
        Ok(events)
    }

    /// Adds an event that the machine has applied, with the effects that it made due.
    pub(crate) async fn add(
        &mut self,
        text: String,
        due: Vec<(String, String)>,
        machine: &Machine,
        blobs: &dyn BlobStore,
    ) -> Result<(), RestoreFailure> {
        let head = &mut self.head;
        head.chain = chain(&head.chain, &text);
        head.len += 1;
        head.bytes_after_snapshot += text.len();
        head.status = machine.ending().map(Ending::status).map(|status| status.as_str().to_owned());
        self.tail.push(StoredRow { body: StoredJson::store(text, blobs).await?, due });
        let writes_snapshot = self.is_snapshot_due(machine);
        if writes_snapshot || self.is_tail_full() {
            self.write_page(blobs).await?;
        }
        if self.head.status.is_some() {
            self.head.snapshot = None;
        } else if writes_snapshot {
            let refused = |source| RestoreFailure::Refused { seq: self.head.len, source };
            let machine = StoredJson::store(machine.snapshot().map_err(refused)?, blobs).await?;
            self.head.snapshot = Some(SnapshotRef { len: self.head.len, machine_version: MACHINE_VERSION, machine });
            self.head.bytes_after_snapshot = 0;
        }
        Ok(())
    }

    /// A run that begins to wait gets one, too: it may be continued by a later build.
    fn is_snapshot_due(&self, machine: &Machine) -> bool {
        let last = self.head.snapshot.as_ref().map_or(0, |snapshot| snapshot.machine.bytes());
        machine.is_idle() || self.head.bytes_after_snapshot >= MIN_BYTES_PER_SNAPSHOT.max(last / 2)
    }

    fn is_tail_full(&self) -> bool {
        let inline = |row: &StoredRow| match &row.body {
            StoredJson::Inline(text) => text.get().len(),
            StoredJson::Blob { .. } => 0,
        };
        self.tail.len() >= MAX_TAIL_EVENTS || self.tail.iter().map(inline).sum::<usize>() >= MAX_TAIL_BYTES
    }

    async fn write_page(&mut self, blobs: &dyn BlobStore) -> Result<(), RestoreFailure> {
        let unwritable = |source| RestoreFailure::Unreadable { seq: self.head.tail_start(), source };
        let rows = serde_json::to_string(&self.tail).map_err(unwritable)?;
        let rows = StoredJson::store_as_blob(rows, blobs).await?;
        self.head.pages.push(PageRef { to: self.head.len, rows });
        self.tail.clear();
        Ok(())
    }
}

/// The digest of all events up to one with this text.
fn chain(before: &str, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before);
    digest.update(text);
    hex(&digest.finish())
}

#[cfg(test)]
mod tests;
