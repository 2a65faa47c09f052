//! Connections that read while the writer writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task;

use super::connect::connect;
use super::tables::SqliteTables;
use crate::StorageError;
use crate::error::storage::StoreResult;
use crate::tables::ReadTables;

/// The maximum number of concurrent reads. Each takes a thread and a connection, and all share one disk.
const MAX_READERS: usize = 4;

/// A pool of read-only connections.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, permits: Arc::new(Semaphore::new(MAX_READERS)), idle: Arc::default() }
    }

    /// Runs `work` in a read transaction, so that it sees one state of the file.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn ReadTables) -> StoreResult<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        let closed = || StorageError::Closed(self.path.clone());
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| closed())?;
        let (path, idle) = (self.path.clone(), Arc::clone(&self.idle));
        let reading = task::spawn_blocking(move || {
            // Held until the work is done, even if the caller has dropped its future.
            let _permit = permit;
            read_pooled(&path, &idle, work)
        });
        reading.await.map_err(|_| closed())?.map_err(|failure| StorageError::new(&self.path, failure))
    }

    /// The same on the current thread.
    pub(crate) fn read_blocking<T>(
        &self,
        work: impl FnOnce(&dyn ReadTables) -> StoreResult<T>,
    ) -> Result<T, StorageError> {
        read_pooled(&self.path, &self.idle, work).map_err(|failure| StorageError::new(&self.path, failure))
    }
}

fn read_pooled<T>(
    path: &Path,
    idle: &Mutex<Vec<Connection>>,
    work: impl FnOnce(&dyn ReadTables) -> StoreResult<T>,
) -> StoreResult<T> {
    let pooled = idle.lock().pop();
    let mut connection = pooled.map_or_else(|| connect_read_only(path), Ok)?;
    let transaction = connection.transaction()?;
    let answer = work(&SqliteTables(&transaction))?;
    transaction.commit()?;
    // A connection that failed does not come back to the pool.
    idle.lock().push(connection);
    Ok(answer)
}

pub(crate) fn connect_read_only(path: &Path) -> StoreResult<Connection> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}
