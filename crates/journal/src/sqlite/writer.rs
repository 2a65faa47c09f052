//! The one thread that writes: it takes all that waits, commits it together, then tells each caller.

use std::io;
use std::mem;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use rusqlite::TransactionBehavior;
use tokio::sync::mpsc;

use super::open::Opened;
use super::queue::{Job, Task};
use super::rows::Rows;
use crate::StorageError;
use crate::error::storage::Failure;
use crate::rules::Verdict;
use crate::tables::Tables;

/// How much may wait; who comes later waits to be queued. More than is committed at once, so that the next group gathers
/// while the disk is busy with the last one.
const QUEUE: usize = 1024;

/// How much is committed at once: past this a group saves nothing more, and the first caller waits for the last one's.
const GROUP: usize = 256;

/// The way to the thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(mut opened: Opened) -> io::Result<Self> {
        let path = opened.path.clone();
        let (queue, mut waiting) = mpsc::channel::<Box<dyn Job>>(QUEUE);
        let thread = thread::Builder::new().name("journal-writer".to_owned()).spawn(move || {
            let mut group = Vec::new();
            while waiting.blocking_recv_many(&mut group, GROUP) > 0 {
                write(&mut opened, mem::take(&mut group));
            }
        })?;
        Ok(Self { path, queue: Some(queue), thread: Some(thread) })
    }

    pub(crate) async fn write<T, E>(
        &self,
        work: impl FnMut(&mut dyn Tables) -> Verdict<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        let closed = || StorageError::Closed { path: self.path.clone() };
        let (task, answer) = Task::new(work);
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(Box::new(task)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Writer {
    /// Writes what is queued and closes the file. Its callers are gone, so there is at most one queue of it.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say: a job that failed has told its caller.
            let _ = thread.join();
        }
    }
}

/// Writes a group in one transaction. If it fails, each job gets a transaction of its own, so that one which is too big
/// for the disk does not spoil the others.
pub(crate) fn write(opened: &mut Opened, mut group: Vec<Box<dyn Job>>) {
    match commit(opened, &mut group) {
        Ok(()) => group.into_iter().for_each(Job::answer),
        Err(Failed::ToCommit(_)) if group.len() > 1 => group.into_iter().for_each(|job| write(opened, vec![job])),
        Err(Failed::ToStart(failure) | Failed::ToCommit(failure)) => {
            let error = StorageError::new(&opened.path, failure);
            for job in group {
                job.fail(error.clone());
            }
        }
    }
}

/// Where a transaction failed. One that could not even start would not start for each of its jobs either.
enum Failed {
    ToStart(Failure),
    ToCommit(Failure),
}

fn commit(opened: &mut Opened, group: &mut [Box<dyn Job>]) -> Result<(), Failed> {
    opened.identity.check(&opened.path).map_err(Failed::ToStart)?;
    let transaction = opened
        .connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| Failed::ToStart(error.into()))?;
    for job in group {
        // An early return drops the transaction, which undoes it.
        job.run(&mut Rows(&transaction)).map_err(Failed::ToCommit)?;
    }
    transaction.commit().map_err(|error| Failed::ToCommit(error.into()))
}

#[cfg(test)]
mod tests;
