//! Opening the file, and making it a journal if it is new.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::BUSY;
use super::file::{self, Identity};
use super::schema::{APPLICATION, LESSONS, TABLES, VERSION};
use crate::error::storage::{Failure, Stored};
use crate::{Durability, OpenError, StorageError};

/// A log that a long reader has let grow is cut back to this when it can be.
const LOG_BYTES: u32 = 16 << 20;

/// A file that is a journal of the version we know, and the connection that writes to it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) connection: Connection,
}

pub(crate) fn open(path: &Path, durability: Durability) -> Result<Opened, OpenError> {
    // A program that changes its directory later must not lose sight of the file.
    let path = std::path::absolute(path).map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    let identity = file::prepare(&path)?;
    if file::has_lost_its_head(&path) {
        let what = "the file is empty, but the log of changes to it is not";
        return Err(StorageError::new(&path, Failure::Contents(what.to_owned())).into());
    }
    let fail = |failure| OpenError::from(StorageError::new(&path, failure));
    let mut connection = connect(&path).map_err(fail)?;
    match kind_now(&connection) {
        Ok(Kind::New | Kind::Journal(_)) => {}
        Ok(Kind::Newer(found)) => return Err(OpenError::Newer { path, found, known: VERSION }),
        Ok(Kind::Foreign) => return Err(OpenError::NotAJournal { path }),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(OpenError::NotAJournal { path });
        }
        Err(error) => return Err(fail(error.into())),
    }
    if write_ahead(&connection).map_err(|error| fail(error.into()))? == Log::Refused {
        return Err(OpenError::Unsuitable { path });
    }
    prepare_writer(&mut connection, durability).map_err(|error| fail(error.into()))?;
    Ok(Opened { path, identity, connection })
}

/// A connection that waits for others; it creates no file, so that one that is gone is noticed.
pub(crate) fn connect(path: &Path) -> Stored<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

enum Kind {
    New,
    /// Of this version, or an older one.
    Journal(u32),
    Newer(u32),
    Foreign,
}

/// In one transaction: another process may be making the tables while we look.
fn kind_now(connection: &Connection) -> rusqlite::Result<Kind> {
    let transaction = connection.unchecked_transaction()?;
    let kind = kind(&transaction)?;
    transaction.commit()?;
    Ok(kind)
}

fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version, tables) {
        (0, 0, 0) => Kind::New,
        (APPLICATION, known @ 1..=VERSION, _) => Kind::Journal(known),
        (APPLICATION, newer, _) => Kind::Newer(newer),
        _ => Kind::Foreign,
    })
}

#[derive(PartialEq)]
enum Log {
    Ahead,
    Refused,
}

/// Readers beside the writer need the log. `SQLite` does not wait for others while it switches a new file to it, so that
/// processes which start together must try again.
fn write_ahead(connection: &Connection) -> rusqlite::Result<Log> {
    let deadline = Instant::now() + BUSY;
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(Log::Ahead),
            Ok(_) => return Ok(Log::Refused),
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
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made the tables since we looked.
    let kind = kind(&transaction)?;
    if matches!(kind, Kind::New) {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    if matches!(kind, Kind::New | Kind::Journal(1)) {
        transaction.execute_batch(LESSONS)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_durable_a_journal_is_decides_when_its_file_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        for (durability, level) in [(Durability::Full, 2), (Durability::Normal, 1), (Durability::Off, 0)] {
            let opened = open(&directory.path().join("journal.db"), durability).unwrap();
            let found: i64 = opened.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(found, level, "{durability:?}");
        }
    }
}
