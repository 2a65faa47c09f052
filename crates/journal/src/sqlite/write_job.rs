//! The jobs in the queue of the writer thread.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::StorageError;
use crate::error::storage::StoreResult;
use crate::rules::RuleResult;
use crate::tables::WriteTables;

/// A write in the queue. It may run again after its transaction was rolled back.
pub(crate) trait WriteJob: Send {
    /// Writes, and keeps the answer for later. A refusal is an answer too; only a failure of the store is an error.
    fn run(&mut self, tables: &mut dyn WriteTables) -> StoreResult<()>;
    /// How long to wait while another process locks the file.
    fn lock_wait(&self) -> Duration;
    /// Sends the answer to the caller, after the commit.
    fn answer(self: Box<Self>);
    /// Tells the caller that the store failed and nothing was written.
    fn fail(self: Box<Self>, error: StorageError);
}

/// A closure that writes, with the channel to the caller that waits for its answer.
pub(crate) struct PendingWrite<T, E, W> {
    lock_wait: Duration,
    work: W,
    answer: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<T, E, W> PendingWrite<T, E, W> {
    pub(crate) fn new(lock_wait: Duration, work: W) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (caller, answer) = oneshot::channel();
        (Self { lock_wait, work, answer: None, caller }, answer)
    }
}

impl<T, E, W> WriteJob for PendingWrite<T, E, W>
where
    T: Send,
    E: From<StorageError> + Send,
    W: FnMut(&mut dyn WriteTables) -> RuleResult<T, E> + Send,
{
    fn run(&mut self, tables: &mut dyn WriteTables) -> StoreResult<()> {
        self.answer = Some((self.work)(tables)?);
        Ok(())
    }

    fn lock_wait(&self) -> Duration {
        self.lock_wait
    }

    fn answer(self: Box<Self>) {
        if let Some(answer) = self.answer {
            // Sending fails only if the caller dropped its future.
            let _ = self.caller.send(answer);
        }
    }

    fn fail(self: Box<Self>, error: StorageError) {
        let _ = self.caller.send(Err(error.into()));
    }
}
