//! What waits to be written.

use tokio::sync::oneshot;

use crate::StorageError;
use crate::error::storage::Stored;
use crate::rules::Verdict;
use crate::tables::Tables;

/// Something to be written. It can be run again: what it did before was undone.
pub(crate) trait Job: Send {
    /// Writes, and keeps the answer for later. A refusal is an answer too; only a failure of the store is an error.
    fn run(&mut self, tables: &mut dyn Tables) -> Stored<()>;
    /// Tells the caller, after the commit.
    fn answer(self: Box<Self>);
    /// Tells the caller that nothing was written.
    fn fail(self: Box<Self>, error: StorageError);
}

/// Work with somebody who waits for its answer.
pub(crate) struct Task<T, E, W> {
    work: W,
    answer: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<T, E, W> Task<T, E, W> {
    pub(crate) fn new(work: W) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (caller, answer) = oneshot::channel();
        (Self { work, answer: None, caller }, answer)
    }
}

impl<T, E, W> Job for Task<T, E, W>
where
    T: Send,
    E: From<StorageError> + Send,
    W: FnMut(&mut dyn Tables) -> Verdict<T, E> + Send,
{
    fn run(&mut self, tables: &mut dyn Tables) -> Stored<()> {
        self.answer = Some((self.work)(tables)?);
        Ok(())
    }

    fn answer(self: Box<Self>) {
        if let Some(answer) = self.answer {
            // A caller who has gone away does not want to know.
            let _ = self.caller.send(answer);
        }
    }

    fn fail(self: Box<Self>, error: StorageError) {
        let _ = self.caller.send(Err(error.into()));
    }
}
