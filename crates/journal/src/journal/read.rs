//! What anybody may read, beside whoever writes.

use reknit_protocol::RunId;

use super::Journal;
use crate::error::storage::{Failure, Stored};
use crate::tables::{RunRow, Views};
use crate::{
    Due, Held, Lesson, Letter, Mailbox, ReadError, Record, RunFilter, RunSummary, SignalId, Snapshot, StorageError,
};

impl Journal {
    /// Whether there is such a run.
    pub async fn exists(&self, run: &RunId) -> Result<bool, StorageError> {
        let run = run.clone();
        self.read(move |views| Ok(views.run(&run)?.is_some())).await
    }

    /// One run, as a list shows it.
    pub async fn summary(&self, run: &RunId) -> Result<RunSummary, ReadError> {
        self.of(run, |_, row| Ok(summary(row))).await
    }

    /// Runs, newest first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, StorageError> {
        let filter = filter.clone();
        self.read(move |views| Ok(views.runs(&filter)?.into_iter().map(summary).collect())).await
    }

    /// The runs whose ids begin with `prefix`, at most `limit`, for people who type the beginning of an id.
    pub async fn find(&self, prefix: &str, limit: u32) -> Result<Vec<RunId>, StorageError> {
        let prefix = prefix.to_owned();
        self.read(move |views| views.runs_with_prefix(&prefix, limit)).await
    }

    /// The events of a run from a position on, in order.
    pub async fn events(&self, run: &RunId, from_seq: u64) -> Result<Vec<Record>, ReadError> {
        self.of(run, move |views, row| {
            let records = views.events(row.key, from_seq)?;
            // A gap would restore a state that never was.
            let expected = from_seq.min(row.state.len)..row.state.len;
            if records.iter().map(|record| record.seq).eq(expected) {
                return Ok(records);
            }
            Err(Failure::Contents(format!("events of run `{}` are missing", row.run)))
        })
        .await
    }

    /// The effects that events made due, each with the position of its event, in order.
    pub async fn due(&self, run: &RunId) -> Result<Vec<(u64, Due)>, ReadError> {
        self.of(run, |views, row| views.due(row.key)).await
    }

    /// The effects that were claimed, in the order of their text.
    pub async fn claims(&self, run: &RunId) -> Result<Vec<String>, ReadError> {
        self.of(run, |views, row| views.claims(row.key)).await
    }

    /// The signals that no event has consumed, in order.
    pub async fn inbox(&self, run: &RunId) -> Result<Vec<Letter>, ReadError> {
        self.inbox_after(run, SignalId(0)).await
    }

    pub(crate) async fn inbox_after(&self, run: &RunId, after: SignalId) -> Result<Vec<Letter>, ReadError> {
        self.of(run, move |views, row| views.unread(row.key, after)).await
    }

    /// The inbox of a run to wait on, whoever sends. Keep it for as long as the run is driven.
    pub fn mailbox(&self, run: &RunId) -> Mailbox {
        Mailbox::new(self.clone(), run.clone(), self.mail.open(run))
    }

    /// The newest snapshot, if there is one.
    pub async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, ReadError> {
        self.of(run, |views, row| views.snapshot(row.key)).await
    }

    /// What runs have learned, the newest first, at most `limit`.
    pub async fn lessons(&self, limit: u32) -> Result<Vec<Lesson>, StorageError> {
        self.read(move |views| views.lessons(limit)).await
    }

    async fn of<T: Send + 'static>(
        &self,
        run: &RunId,
        work: impl FnOnce(&dyn Views, RunRow) -> Stored<T> + Send + 'static,
    ) -> Result<T, ReadError> {
        let wanted = run.clone();
        let found = self.read(move |views| views.run(&wanted)?.map(|row| work(views, row)).transpose()).await?;
        found.ok_or_else(|| ReadError::NoSuchRun { run: run.clone() })
    }
}

fn summary(row: RunRow) -> RunSummary {
    let state = row.state;
    let held = |(holder, until_ms)| Held { holder, until_ms, epoch: state.epoch };
    RunSummary {
        run: row.run,
        title: row.title,
        created_ms: row.created_ms,
        updated_ms: state.updated_ms,
        status: state.status,
        len: state.len,
        epoch: state.epoch,
        lease: state.lease.map(held),
    }
}
