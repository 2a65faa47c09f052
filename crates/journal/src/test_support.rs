//! Support for simulations: several processes on one journal in memory, whose disks are slow and fail.

#[cfg(feature = "sqlite")]
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_protocol::RunId;
#[cfg(feature = "sqlite")]
use rusqlite::ffi;

#[cfg(feature = "sqlite")]
use crate::error::storage::StoreFailure;
use crate::mailboxes::Mailboxes;
use crate::memory::MemoryTables;
use crate::simulated::Simulated;
pub use crate::simulated::{DiskFuture, JournalAccess, SimulatedProcess};
use crate::{Holder, Journal, StorageError};

/// A journal that several simulated processes open.
#[derive(Debug)]
pub struct SharedJournal {
    tables: Arc<Mutex<MemoryTables>>,
}

/// Wakes the mailboxes of one process, as polling a file does.
#[derive(Debug, Clone)]
pub struct InboxPoll(Arc<Mailboxes>);

impl Default for SharedJournal {
    /// A journal that forgets no run.
    fn default() -> Self {
        Self { tables: Arc::new(Mutex::new(MemoryTables::keeping(usize::MAX))) }
    }
}

impl SharedJournal {
    /// Opens the journal for a process.
    pub fn open(&self, process: Arc<dyn SimulatedProcess>) -> (Journal, InboxPoll) {
        let mailboxes = Arc::new(Mailboxes::default());
        let store = Simulated::new(Arc::clone(&self.tables), process);
        (Journal::simulated(store, Arc::clone(&mailboxes)), InboxPoll(mailboxes))
    }
}

impl InboxPoll {
    /// A poll found a signal for a run.
    pub fn found(&self, run: &RunId) {
        self.0.notify(run);
    }

    /// A poll failed.
    pub fn failed(&self, error: &StorageError) {
        self.0.notify_all(Some(error));
    }

    /// The first poll after a failure: every mailbox reads its inbox.
    pub fn reopened(&self) {
        self.0.notify_all(None);
    }
}

/// A holder with this process id on this host. Only its [`SimulatedProcess`] knows whether it is alive.
pub fn simulated_holder(pid: u32, host: &str) -> Holder {
    Holder::simulated(pid, host)
}

/// The error of a disk that fails.
#[cfg(feature = "sqlite")]
pub fn disk_error() -> StorageError {
    error(ffi::SQLITE_IOERR)
}

/// The error of a file that another process locks for too long.
#[cfg(feature = "sqlite")]
pub fn lock_error() -> StorageError {
    error(ffi::SQLITE_BUSY)
}

#[cfg(feature = "sqlite")]
fn error(code: i32) -> StorageError {
    let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
    StorageError::new(Path::new("(simulated)"), StoreFailure::Sqlite(failure))
}
