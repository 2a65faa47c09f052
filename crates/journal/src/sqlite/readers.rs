//! Reading beside the writer.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task;

use super::open::connect;
use super::rows::Rows;
use crate::StorageError;
use crate::error::storage::{Failure, Stored};
use crate::tables::Views;

/// How many read at once. Reading takes a thread and a connection; the file is on one disk.
const READERS: usize = 4;

/// Connections that only read.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, permits: Arc::new(Semaphore::new(READERS)), idle: Arc::default() }
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Views) -> Stored<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        let closed = || StorageError::Closed { path: self.path.clone() };
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| closed())?;
        let (path, idle) = (self.path.clone(), Arc::clone(&self.idle));
        let reading = task::spawn_blocking(move || {
            // Held until the work is done, even if nobody waits for it any more.
            let _permit = permit;
            let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = taken.map_or_else(|| connect_to_read(&path), Ok)?;
            let transaction = connection.transaction()?;
            let answer = work(&Rows(&transaction))?;
            transaction.commit()?;
            // One that has failed is not used again.
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            Ok::<T, Failure>(answer)
        });
        reading.await.map_err(|_| closed())?.map_err(|failure| StorageError::new(&self.path, failure))
    }
}

pub(crate) fn connect_to_read(path: &std::path::Path) -> Stored<Connection> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}
