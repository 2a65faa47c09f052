//! The one thread that writes. It commits all queued writes together, then answers each caller.

use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::TransactionBehavior;
use tokio::sync::mpsc;

use super::open::WriterConnection;
use super::tables::SqliteTables;
use super::write_job::{PendingWrite, WriteJob};
use crate::StorageError;
use crate::error::storage::StoreFailure;
use crate::rules::RuleResult;
use crate::tables::WriteTables;

/// The capacity of the queue; when it is full, callers wait. It is larger than [`MAX_GROUP`], so that the next group
/// collects while the disk is busy with the last one.
const QUEUE_CAPACITY: usize = 1024;

/// The maximum number of writes in one commit: a larger group saves nothing more, and delays the first caller's answer.
const MAX_GROUP: usize = 256;

/// The handle on the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    queue: Option<mpsc::Sender<Box<dyn WriteJob>>>,
    locked_since: LockedSince,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(mut connection: WriterConnection) -> io::Result<Self> {
        let path = connection.path.clone();
        let (queue, mut queued) = mpsc::channel::<Box<dyn WriteJob>>(QUEUE_CAPACITY);
        let locked_since = LockedSince::default();
        let locked = Arc::clone(&locked_since);
        let thread = thread::Builder::new().name("journal-writer".to_owned()).spawn(move || {
            let mut group = Vec::new();
            while queued.blocking_recv_many(&mut group, MAX_GROUP) > 0 {
                write_group(&mut connection, mem::take(&mut group), &locked);
            }
        })?;
        Ok(Self { path, queue: Some(queue), locked_since, thread: Some(thread) })
    }

    /// How long writes have been waiting for the lock.
    pub(crate) fn locked_for(&self) -> Option<Duration> {
        self.locked_since.lock().map(|since| since.elapsed())
    }

    /// Runs `work` in a transaction and waits for the commit: at least for `lock_wait` while another process locks the file.
    /// Dropping the future does not undo the write.
    pub(crate) async fn write<T, E>(
        &self,
        lock_wait: Duration,
        work: impl FnMut(&mut dyn WriteTables) -> RuleResult<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        let closed = || StorageError::Closed(self.path.clone());
        let (job, answer) = PendingWrite::new(lock_wait, work);
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(Box::new(job)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Writer {
    /// Writes the queued jobs and closes the file. No caller is left, so this is at most one full queue.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // The thread has no result: each job reports its failure to its caller.
            let _ = thread.join();
        }
    }
}

/// Since when another process locks the file, while a write waits for it.
pub(crate) type LockedSince = Arc<Mutex<Option<Instant>>>;

/// Writes a group in one transaction. While another process locks the file, each job waits as long as it may. If the commit fails, each job gets its own transaction, so that one job that is too large
/// for the disk does not fail the others.
pub(crate) fn write_group(
    connection: &mut WriterConnection,
    mut group: Vec<Box<dyn WriteJob>>,
    locked_since: &LockedSince,
) {
    let set_locked = |locked: bool| {
        let mut since = locked_since.lock();
        *since = locked.then(|| since.unwrap_or_else(Instant::now));
    };
    let started = Instant::now();
    let committed = loop {
        match commit(connection, &mut group) {
            Err(CommitFailure::Begin(failure)) if failure.is_lock() => {
                set_locked(true);
                let error = StorageError::new(&connection.path, failure);
                let waited = started.elapsed();
                let (waiting, given_up): (Vec<_>, Vec<_>) = group.into_iter().partition(|job| waited < job.lock_wait());
                group = waiting;
                for job in given_up {
                    job.fail(error.clone());
                }
                if group.is_empty() {
                    set_locked(false);
                    return;
                }
            }
            committed => break committed,
        }
    };
    set_locked(false);
    match committed {
        Ok(()) => group.into_iter().for_each(WriteJob::answer),
        Err(CommitFailure::Commit(_)) if group.len() > 1 => {
            for job in group {
                write_group(connection, vec![job], locked_since);
            }
        }
        Err(CommitFailure::Begin(failure) | CommitFailure::Commit(failure)) => {
            let error = StorageError::new(&connection.path, failure);
            for job in group {
                job.fail(error.clone());
            }
        }
    }
}

/// Where a transaction failed. One that cannot begin for a group cannot begin for a single job either.
enum CommitFailure {
    Begin(StoreFailure),
    Commit(StoreFailure),
}

fn commit(connection: &mut WriterConnection, group: &mut [Box<dyn WriteJob>]) -> Result<(), CommitFailure> {
    connection.identity.check(&connection.path).map_err(CommitFailure::Begin)?;
    let transaction = connection
        .sqlite
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| CommitFailure::Begin(error.into()))?;
    for job in group {
        // An early return drops the transaction, which rolls it back.
        job.run(&mut SqliteTables(&transaction)).map_err(CommitFailure::Commit)?;
    }
    transaction.commit().map_err(|error| CommitFailure::Commit(error.into()))
}

#[cfg(test)]
mod tests;
