//! Opening the file, and creating the tables in a new one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::connect::connect;
use super::file::{self, FileIdentity};
use super::header::FileHeader;
use super::schema::{APPLICATION_ID, SCHEMA_VERSION, TABLES};
use super::{log_check, migrate};
use crate::BUSY_TIMEOUT;
use crate::error::storage::StoreFailure;
use crate::{Durability, Migration, OpenError, StorageError};

/// `SQLite` truncates the write-ahead log to this size when it can, after a long read has let it grow.
const MAX_LOG_BYTES: u32 = 16 << 20;

/// The connection that writes, to a journal of the version that this build supports.
#[derive(Debug)]
pub(crate) struct WriterConnection {
    pub(crate) path: PathBuf,
    pub(crate) identity: FileIdentity,
    pub(crate) sqlite: Connection,
    pub(crate) migration: Option<Migration>,
}

pub(crate) fn open(path: &Path, durability: Durability) -> Result<WriterConnection, OpenError> {
    // An absolute path, so that the program may change its working directory later.
    let path = std::path::absolute(path).map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    let header = FileHeader::read(&path).map_err(|source| OpenError::File { path: path.clone(), source })?;
    if header == FileHeader::Foreign {
        return Err(OpenError::NotAJournal(path));
    }
    let identity = file::prepare(&path)?;
    if file::is_empty_beside_log(&path) {
        let problem = "the file is empty, but its write-ahead log is not";
        return Err(StorageError::new(&path, StoreFailure::Contents(problem.to_owned())).into());
    }
    if durability == Durability::Full {
        let log = file::side_file(&path, "-wal");
        let damaged = log_check::damaged_frame(&log).map_err(|source| OpenError::File { path: log, source })?;
        if let Some(frame) = damaged {
            let problem =
                format!("frame {frame} of its write-ahead log is unreadable, and with it the commits that follow");
            return Err(StorageError::new(&path, StoreFailure::Contents(problem)).into());
        }
    }
    let fail = |failure| OpenError::from(StorageError::new(&path, failure));
    let mut sqlite = connect(&path).map_err(fail)?;
    let supported = SCHEMA_VERSION;
    let mut is_older = false;
    match read_file_kind(&sqlite) {
        // Before the first write. On an existing file this would be a write of its own.
        Ok(FileKind::New) => {
            sqlite.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(|error| fail(error.into()))?;
        }
        Ok(FileKind::Journal(SCHEMA_VERSION)) => {}
        Ok(FileKind::Journal(found)) if migrate::can_migrate(found) => is_older = true,
        Ok(FileKind::Journal(found @ ..SCHEMA_VERSION)) => return Err(OpenError::Older { path, found, supported }),
        Ok(FileKind::Journal(found)) => return Err(OpenError::Newer { path, found, supported }),
        Ok(FileKind::Foreign) => return Err(OpenError::NotAJournal(path)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(OpenError::NotAJournal(path));
        }
        Err(error) => return Err(fail(error.into())),
    }
    if !enable_write_ahead_log(&sqlite).map_err(|error| fail(error.into()))? {
        return Err(OpenError::UnsupportedFileSystem(path));
    }
    let migration = if is_older { migrate::migrate(&path, &mut sqlite)? } else { None };
    prepare_writer(&mut sqlite, durability).map_err(|error| fail(error.into()))?;
    Ok(WriterConnection { path, identity, sqlite, migration })
}

enum FileKind {
    New,
    Journal(u32),
    Foreign,
}

/// Reads the kind in one transaction, because another process may be creating the tables.
fn read_file_kind(connection: &Connection) -> rusqlite::Result<FileKind> {
    let transaction = connection.unchecked_transaction()?;
    let kind = file_kind(&transaction)?;
    transaction.commit()?;
    Ok(kind)
}

fn file_kind(connection: &Connection) -> rusqlite::Result<FileKind> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let (application_id, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application_id, version, tables) {
        (0, 0, 0) => FileKind::New,
        (APPLICATION_ID, version, _) => FileKind::Journal(version),
        _ => FileKind::Foreign,
    })
}

/// Switches the file to the write-ahead log, which concurrent readers need; `false` if the file system does not support it.
///
/// `SQLite` does not wait for locks while it switches a new file, so processes that start together must try again.
fn enable_write_ahead_log(connection: &Connection) -> rusqlite::Result<bool> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) => return Ok(mode == "wal"),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
}

fn prepare_writer(connection: &mut Connection, durability: Durability) -> rusqlite::Result<()> {
    let level = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
        Durability::Off => "OFF",
    };
    connection.pragma_update(None, "synchronous", level)?;
    connection.pragma_update_and_check(None, "journal_size_limit", MAX_LOG_BYTES, |_| Ok(()))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created the tables since the first check.
    if matches!(file_kind(&transaction)?, FileKind::New) {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durability_sets_when_sqlite_syncs_the_file() {
        let directory = tempfile::tempdir().unwrap();
        for (durability, level) in [(Durability::Full, 2), (Durability::Normal, 1), (Durability::Off, 0)] {
            let opened = open(&directory.path().join("journal.db"), durability).unwrap();
            let found: i64 = opened.sqlite.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(found, level, "{durability:?}");
        }
    }
}
