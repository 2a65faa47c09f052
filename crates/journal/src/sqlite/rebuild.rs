//! Rebuilding a file, so that it shrinks at once and can shrink by itself from then on.

use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;

use super::open::connect;
use crate::error::storage::{StoreFailure, StoreResult};
use crate::{OpenError, StorageError};

/// How long to wait for others to close the file.
const PATIENCE: Duration = Duration::from_millis(200);

/// What came of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuild {
    /// The file has its smallest size.
    Done,
    /// Another process has the file open. Nothing was changed.
    InUse,
}

/// Rebuilds the file if no one else has it open.
pub(crate) fn rebuild(path: &Path) -> Result<Rebuild, OpenError> {
    let path = std::path::absolute(path).map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    rebuild_file(&path).map_err(|failure| StorageError::new(&path, failure).into())
}

fn rebuild_file(path: &Path) -> StoreResult<Rebuild> {
    let connection = connect(path)?;
    connection.busy_timeout(PATIENCE)?;
    // `SQLite` leaves the write-ahead log only if no other connection uses it.
    let mode = connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get::<_, String>(0));
    match mode {
        Ok(mode) if mode == "delete" => {}
        Ok(_) => return Ok(Rebuild::InUse),
        Err(error)
            if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) =>
        {
            return Ok(Rebuild::InUse);
        }
        Err(error) => return Err(error.into()),
    }
    let rebuilt = connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;");
    let mode = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
    match rebuilt.and(mode) {
        Ok(_) => Ok(Rebuild::Done),
        Err(error) => {
            let failure = StoreFailure::from(error);
            if failure.is_lock() { Ok(Rebuild::InUse) } else { Err(failure) }
        }
    }
}

/// Whether the file gives unused pages back without being rebuilt.
pub(crate) fn shrinks_by_itself(path: &Path) -> StoreResult<bool> {
    let mode: u32 = connect(path)?.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    Ok(mode == 2)
}
