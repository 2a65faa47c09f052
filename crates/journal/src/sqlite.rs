//! The tables in a `SQLite` file: one thread writes, others read beside it, and so do other processes.

mod file;
mod open;
mod queue;
mod readers;
mod rows;
mod schema;
mod watcher;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::storage::Stored;
use crate::mailbox::Mailboxes;
use crate::rules::Verdict;
use crate::tables::{Tables, Views};
use crate::{Durability, OpenError, StorageError};

/// How long a process waits for another one that keeps the file to itself. Others write for milliseconds; only a
/// process that was stopped in the middle of it keeps longer.
pub const BUSY: Duration = Duration::from_secs(5);

/// A journal in a `SQLite` file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    // The order of the fields is the order in which they end: the writer last, so that its connection is the one that
    // tidies up the file.
    _watcher: watcher::Watcher,
    readers: readers::Readers,
    writer: writer::Writer,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, durability: Durability, mail: Arc<Mailboxes>) -> Result<Self, OpenError> {
        let opened = open::open(path, durability)?;
        let path = opened.path.clone();
        let thread = |source| OpenError::Thread { path: path.clone(), source };
        Ok(Self {
            writer: writer::Writer::start(opened).map_err(thread)?,
            readers: readers::Readers::new(path.clone()),
            _watcher: watcher::Watcher::start(path.clone(), mail).map_err(thread)?,
            path: path.clone(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Has `work` done and committed. Dropping the future does not stop it: it may still be committed.
    pub(crate) async fn write<T, E>(
        &self,
        work: impl FnMut(&mut dyn Tables) -> Verdict<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        self.writer.write(work).await
    }

    /// Reads one state of the file.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Views) -> Stored<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.readers.read(work).await
    }
}
