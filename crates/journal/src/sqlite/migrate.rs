//! Brings the file of an older build to the current version, in place and after a backup.
//!
//! The backup and the change happen while this process holds the lock for writing: other processes that open the file wait, and
//! then find it migrated. The change is one transaction, so a process that is killed leaves the file as it was.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::file::side_file;
use super::open::connect;
use super::owner_tables::OWNER_TABLES;
use super::run_id_tables::RUN_ID_TABLES;
use super::schema::SCHEMA_VERSION;
use crate::error::storage::StoreResult;
use crate::lock_wait::{BUSY_TIMEOUT, MAX_LOCK_WAIT};
use crate::{Migration, OpenError, StorageError};

/// How the tables of each version become those of the next one, the oldest version first.
const STEPS: &[(u32, &[&str])] = &[
    (
        4,
        &[
            RUN_ID_TABLES,
            "
ALTER TABLE runs ADD COLUMN parked TEXT;
-- Their format was another one, and only a driver for tests wrote them.
DELETE FROM snapshots;
ALTER TABLE snapshots ADD COLUMN digest BLOB;
CREATE TABLE endings (
    run    INTEGER PRIMARY KEY,
    body   TEXT    NOT NULL,
    digest BLOB    NOT NULL
) STRICT;
",
        ],
    ),
    (5, &["ALTER TABLE runs ADD COLUMN owner TEXT;", OWNER_TABLES]),
];

/// Whether this build can migrate a file of this version.
pub(crate) fn can_migrate(version: u32) -> bool {
    STEPS.first().is_some_and(|(oldest, _)| (*oldest..SCHEMA_VERSION).contains(&version))
}

/// Migrates the file, unless another process has done so meanwhile.
pub(crate) fn migrate(path: &Path, sqlite: &mut Connection) -> Result<Option<Migration>, OpenError> {
    let fail = |failure| OpenError::from(StorageError::new(path, failure));
    // Another process may be copying a large file.
    sqlite.busy_timeout(MAX_LOCK_WAIT).map_err(|error| fail(error.into()))?;
    let transaction =
        sqlite.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|error| fail(error.into()))?;
    let from: u32 =
        transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| fail(error.into()))?;
    let migration = if can_migrate(from) {
        let backup = back_up(path, from)?;
        apply_steps(&transaction, from).map_err(fail)?;
        Some(Migration { from, to: SCHEMA_VERSION, backup })
    } else {
        None
    };
    transaction.commit().map_err(|error| fail(error.into()))?;
    sqlite.busy_timeout(BUSY_TIMEOUT).map_err(|error| fail(error.into()))?;
    Ok(migration)
}

fn apply_steps(transaction: &Connection, from: u32) -> StoreResult<()> {
    for (_, step) in STEPS.iter().filter(|(version, _)| *version >= from) {
        for text in *step {
            transaction.execute_batch(text)?;
        }
    }
    Ok(transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?)
}

/// Copies the file as it is now, and returns where the copy is. An earlier backup is kept.
fn back_up(path: &Path, version: u32) -> Result<PathBuf, OpenError> {
    let part = side_file(path, &format!(".v{version}-backup.part"));
    let fail = |source| OpenError::Backup { path: part.clone(), source };
    // A process that was killed may have left an incomplete copy.
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part).map_err(fail)?;
    let copy = || -> StoreResult<()> {
        // Another connection: `VACUUM` cannot run inside the transaction that locks the file.
        let reader = connect(path)?;
        reader.execute("VACUUM INTO ?1", [part.to_string_lossy()])?;
        Ok(())
    };
    copy().map_err(|failure| OpenError::from(StorageError::new(path, failure)))?;
    file.sync_all().map_err(fail)?;
    let backup = unused_name(path, version);
    std::fs::rename(&part, &backup).map_err(fail)?;
    let directory = backup.parent().unwrap_or(Path::new("."));
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(fail)?;
    Ok(backup)
}

/// `journal.db.v4-backup`, or `journal.db.v4-backup-2` if there is one already.
fn unused_name(path: &Path, version: u32) -> PathBuf {
    let name = |number: u32| match number {
        1 => side_file(path, &format!(".v{version}-backup")),
        number => side_file(path, &format!(".v{version}-backup-{number}")),
    };
    let mut number = 1;
    while name(number).exists() {
        number += 1;
    }
    name(number)
}
