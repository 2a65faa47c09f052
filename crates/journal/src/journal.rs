//! The handle.

mod drive;
mod read;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::storage::Stored;
use crate::mailbox::Mailboxes;
use crate::memory::Memory;
use crate::rules::Verdict;
use crate::sqlite::Sqlite;
use crate::tables::{Tables, Views};
use crate::{Durability, OpenError, StorageError};

/// What stands for the file where there is none.
const IN_MEMORY: &str = "(memory)";

/// A journal: a cheap handle on it. The last one to be dropped closes the file.
///
/// A method that writes answers when what it wrote is committed. Dropping its future does not take the write back: it may
/// be committed all the same, and the next [`append`](Self::append) with the old length then finds a
/// [`Conflict`](crate::AppendError::Conflict).
///
/// Methods that read a file need a tokio runtime around them, for its blocking threads.
#[derive(Debug, Clone)]
pub struct Journal {
    store: Arc<Store>,
    mail: Arc<Mailboxes>,
}

#[derive(Debug)]
enum Store {
    Memory(Mutex<Memory>),
    Sqlite(Sqlite),
}

impl Journal {
    /// Opens the file, or makes it, with the directories that are missing on the way. Only its owner can read it.
    ///
    /// Any number of processes may have it open. This blocks for as long as the disk takes, and for [`BUSY`](crate::BUSY)
    /// at most if another process keeps the file to itself.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, OpenError> {
        let mail = Arc::new(Mailboxes::default());
        let store = Arc::new(Store::Sqlite(Sqlite::open(path, durability, Arc::clone(&mail))?));
        Ok(Self { store, mail })
    }

    /// A journal that ends with its last handle.
    pub fn in_memory() -> Self {
        Self { store: Arc::new(Store::Memory(Mutex::default())), mail: Arc::default() }
    }

    /// The file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match &*self.store {
            Store::Memory(_) => None,
            Store::Sqlite(file) => Some(file.path()),
        }
    }

    pub(crate) fn mailboxes(&self) -> &Mailboxes {
        &self.mail
    }

    pub(crate) fn closed(&self) -> StorageError {
        StorageError::Closed { path: self.path().unwrap_or(Path::new(IN_MEMORY)).to_owned() }
    }

    async fn write<T, E>(&self, mut work: impl FnMut(&mut dyn Tables) -> Verdict<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StorageError> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(file) => file.write(work).await,
            Store::Memory(memory) => {
                work(&mut *memory.lock().unwrap_or_else(PoisonError::into_inner)).map_err(in_memory)?
            }
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Views) -> Stored<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        match &*self.store {
            Store::Sqlite(file) => file.read(work).await,
            Store::Memory(memory) => work(&*memory.lock().unwrap_or_else(PoisonError::into_inner)).map_err(in_memory),
        }
    }
}

fn in_memory(failure: crate::error::storage::Failure) -> StorageError {
    StorageError::new(Path::new(IN_MEMORY), failure)
}
