//! The handle on a journal, and the choice between its two stores.

mod mailbox;
mod prune;
mod read;
mod write;

pub use mailbox::Mailbox;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::storage::StoreResult;
use crate::holder::{Processes, SystemProcesses};
use crate::mailboxes::Mailboxes;
use crate::memory::{IN_MEMORY, MemoryTables, in_memory};
use crate::rules::RuleResult;
use crate::simulated::Simulated;
#[cfg(feature = "sqlite")]
use crate::sqlite::Sqlite;
use crate::tables::{ReadTables, WriteTables};
#[cfg(feature = "sqlite")]
use crate::{Durability, OpenError};
use crate::{Migration, StorageError};

/// How many ended runs a journal in memory keeps.
const DEFAULT_MEMORY_RUNS: usize = 1_000;

/// A cheap handle on a journal. Dropping the last handle closes the file.
///
/// A method that writes returns once its write is committed. Dropping its future does not undo the write: it may still
/// be committed, and the next [`append`](Self::append) with the old length then fails with
/// [`Conflict`](crate::AppendError::Conflict).
///
/// Methods that read a file must run inside a tokio runtime, because they use its blocking threads.
#[derive(Debug, Clone)]
pub struct Journal {
    store: Arc<Store>,
    pub(crate) mailboxes: Arc<Mailboxes>,
}

#[derive(Debug)]
enum Store {
    Memory(Mutex<MemoryTables>),
    #[cfg(feature = "sqlite")]
    Sqlite(Sqlite),
    Simulated(Simulated),
}

impl Journal {
    /// Opens the file, or creates it together with its missing parent directories. Only the owner can read it. A journal of
    /// an older build is copied and then upgraded ([`Journal::migration`]); one that is too old, or of a newer build, is refused and
    /// keeps its contents.
    ///
    /// Any number of processes may have the file open. This blocks on the disk, and for at most
    /// [`BUSY_TIMEOUT`](crate::BUSY_TIMEOUT) while another process locks the file.
    #[cfg(feature = "sqlite")]
    pub fn open(path: &Path, durability: Durability) -> Result<Self, OpenError> {
        let mailboxes = Arc::new(Mailboxes::default());
        let store = Arc::new(Store::Sqlite(Sqlite::open(path, durability, Arc::clone(&mailboxes))?));
        Ok(Self { store, mailboxes })
    }

    /// A journal in memory. Dropping its last handle deletes it. It keeps the last 1,000 ended runs, so that a program that runs
    /// for months does not grow; see [`in_memory_keeping`](Self::in_memory_keeping).
    pub fn in_memory() -> Self {
        Self::in_memory_keeping(DEFAULT_MEMORY_RUNS)
    }

    /// A journal in memory that forgets what an ended run did as soon as more than `ended_runs` others have ended after it.
    /// Runs that have not ended are never forgotten. The ids of the last 100,000 forgotten runs stay in use.
    pub fn in_memory_keeping(ended_runs: usize) -> Self {
        let tables = MemoryTables::keeping(ended_runs);
        Self { store: Arc::new(Store::Memory(Mutex::new(tables))), mailboxes: Arc::default() }
    }

    pub(crate) fn simulated(store: Simulated, mailboxes: Arc<Mailboxes>) -> Self {
        Self { store: Arc::new(Store::Simulated(store)), mailboxes }
    }

    /// The processes as this one sees them.
    fn processes(&self) -> Arc<dyn Processes> {
        match &*self.store {
            Store::Simulated(simulated) => simulated.processes(),
            #[cfg(feature = "sqlite")]
            Store::Sqlite(_) => Arc::new(SystemProcesses),
            Store::Memory(_) => Arc::new(SystemProcesses),
        }
    }

    /// The path of the file; `None` for a journal in memory.
    pub fn path(&self) -> Option<&Path> {
        match &*self.store {
            Store::Memory(_) | Store::Simulated(_) => None,
            #[cfg(feature = "sqlite")]
            Store::Sqlite(file) => Some(&file.path),
        }
    }

    /// The migration that was made when this handle opened the file of an older build.
    pub fn migration(&self) -> Option<&Migration> {
        match &*self.store {
            Store::Memory(_) | Store::Simulated(_) => None,
            #[cfg(feature = "sqlite")]
            Store::Sqlite(file) => file.migration.as_ref(),
        }
    }

    /// How long writes have been waiting because another process locks the file; `None` if they are not.
    pub fn locked_for(&self) -> Option<Duration> {
        match &*self.store {
            Store::Memory(_) | Store::Simulated(_) => None,
            #[cfg(feature = "sqlite")]
            Store::Sqlite(file) => file.writer.locked_for(),
        }
    }

    pub(crate) fn closed(&self) -> StorageError {
        StorageError::Closed(self.path().unwrap_or(Path::new(IN_MEMORY)).to_owned())
    }

    #[cfg_attr(not(feature = "sqlite"), expect(unused_variables, reason = "only a file can be locked"))]
    async fn write<T, E>(
        &self,
        lock_wait: Duration,
        mut work: impl FnMut(&mut dyn WriteTables) -> RuleResult<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        match &*self.store {
            #[cfg(feature = "sqlite")]
            Store::Sqlite(file) => file.writer.write(lock_wait, work).await,
            Store::Simulated(simulated) => simulated.write(work).await,
            Store::Memory(memory) => work(&mut *memory.lock()).map_err(in_memory)?,
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn ReadTables) -> StoreResult<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        match &*self.store {
            #[cfg(feature = "sqlite")]
            Store::Sqlite(file) => file.readers.read(work).await,
            Store::Simulated(simulated) => simulated.read(work).await,
            Store::Memory(memory) => work(&*memory.lock()).map_err(in_memory),
        }
    }

    fn read_blocking<T>(&self, work: impl FnOnce(&dyn ReadTables) -> StoreResult<T>) -> Result<T, StorageError> {
        match &*self.store {
            #[cfg(feature = "sqlite")]
            Store::Sqlite(file) => file.readers.read_blocking(work),
            Store::Simulated(simulated) => simulated.read_blocking(work),
            Store::Memory(memory) => work(&*memory.lock()).map_err(in_memory),
        }
    }
}
