//! Brings the file of an older build to the current version, in place and after a backup.
//!
//! The backup and the change happen while this process holds the lock for writing: other processes that open the file wait, and
//! then find it migrated. The change is one transaction, so a process that is killed leaves the file as it was.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::connect::connect;
use super::file::side_file;
use crate::error::storage::StoreResult;
use crate::{BUSY_TIMEOUT, MAX_LOCK_WAIT};
use crate::{Migration, OpenError, StorageError};

/// How the tables of each version become those of the next one, the oldest version first. Version 6 is the version of the first
/// release.
const STEPS: &[(u32, &str)] = &[];

/// Whether this build can migrate a file of this version.
pub(crate) fn can_migrate(version: u32) -> bool {
    has_steps(STEPS, version)
}

/// Migrates the file, unless another process has done so meanwhile.
pub(crate) fn migrate(path: &Path, sqlite: &mut Connection) -> Result<Option<Migration>, OpenError> {
    apply_steps(STEPS, path, sqlite)
}

fn has_steps(steps: &[(u32, &str)], version: u32) -> bool {
    matches!((steps.first(), steps.last()), (Some((oldest, _)), Some((newest, _))) if (*oldest..=*newest).contains(&version))
}

fn apply_steps(steps: &[(u32, &str)], path: &Path, sqlite: &mut Connection) -> Result<Option<Migration>, OpenError> {
    let fail = |failure| OpenError::from(StorageError::new(path, failure));
    // Another process may be copying a large file.
    sqlite.busy_timeout(MAX_LOCK_WAIT).map_err(|error| fail(error.into()))?;
    let transaction =
        sqlite.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|error| fail(error.into()))?;
    let from: u32 =
        transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| fail(error.into()))?;
    let mut migration = None;
    if has_steps(steps, from) {
        let backup = back_up(path, from)?;
        for (version, step) in steps.iter().filter(|(version, _)| *version >= from) {
            transaction.execute_batch(step).map_err(|error| fail(error.into()))?;
            let to = version + 1;
            transaction.pragma_update(None, "user_version", to).map_err(|error| fail(error.into()))?;
            migration = Some(Migration { from, to, backup: backup.clone() });
        }
    }
    transaction.commit().map_err(|error| fail(error.into()))?;
    sqlite.busy_timeout(BUSY_TIMEOUT).map_err(|error| fail(error.into()))?;
    Ok(migration)
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

/// `journal.db.v6-backup`, or `journal.db.v6-backup-2` if there is one already.
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;
    use crate::sqlite::schema::SCHEMA_VERSION as OLD;
    use crate::{Durability, Holder, Journal, LeaseTerm, NewEvent, NewRun, RunFilter};

    const NEW: u32 = OLD + 2;
    const COLUMNS: &[(u32, &str)] =
        &[(OLD, "ALTER TABLE runs ADD COLUMN colour TEXT;"), (OLD + 1, "ALTER TABLE runs ADD COLUMN size TEXT;")];

    /// A journal with one run.
    fn old_journal() -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.db");
        let first = NewEvent::new(0, "started", "{}");
        let run = NewRun::new("r", "old", "digest", first);
        let journal = Journal::open(&path, Durability::Full).unwrap();
        let (holder, term) = (Holder::this_process(), LeaseTerm { now_ms: 0, ttl_ms: 30_000 });
        runtime().block_on(journal.create(run, &holder, term)).unwrap();
        (directory, path)
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    fn version(path: &Path) -> u32 {
        connect(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    fn upgrade(steps: &[(u32, &str)], path: &Path) -> Result<Option<Migration>, OpenError> {
        apply_steps(steps, path, &mut connect(path).unwrap())
    }

    #[test]
    fn every_step_since_the_version_of_the_file_is_applied_once() {
        let (directory, path) = old_journal();
        let backup = directory.path().join(format!("journal.db.v{OLD}-backup"));
        assert_eq!(upgrade(COLUMNS, &path).unwrap(), Some(Migration { from: OLD, to: NEW, backup: backup.clone() }));
        assert_eq!((version(&path), version(&backup)), (NEW, OLD));
        assert_eq!(std::fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
        connect(&path).unwrap().execute("UPDATE runs SET colour = 'red', size = 'small'", []).unwrap();
        assert_eq!(upgrade(COLUMNS, &path).unwrap(), None);
    }

    #[test]
    fn the_backup_is_a_journal_with_the_same_runs() {
        let (_directory, path) = old_journal();
        let backup = upgrade(COLUMNS, &path).unwrap().unwrap().backup;
        let journal = Journal::open(&backup, Durability::Full).unwrap();
        let runs = runtime().block_on(journal.runs(&RunFilter::newest(9))).unwrap();
        assert_eq!(runs.iter().map(|run| run.title.as_str()).collect::<Vec<_>>(), ["old"]);
    }

    #[test]
    fn an_earlier_backup_is_kept_and_an_incomplete_one_replaced() {
        let (directory, path) = old_journal();
        let file = |end: &str| directory.path().join(format!("journal.db.v{OLD}-backup{end}"));
        std::fs::write(file(""), "precious").unwrap();
        std::fs::write(file(".part"), "SQLite for").unwrap();
        assert_eq!(upgrade(COLUMNS, &path).unwrap().unwrap().backup, file("-2"));
        assert_eq!(std::fs::read_to_string(file("")).unwrap(), "precious");
        assert!(!file(".part").exists());
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let (_directory, path) = old_journal();
        let steps = &[COLUMNS[0], (OLD + 1, "ALTER TABLE missing ADD COLUMN size TEXT;")];
        assert!(upgrade(steps, &path).is_err());
        assert_eq!(version(&path), OLD);
        assert_eq!(upgrade(COLUMNS, &path).unwrap().unwrap().to, NEW);
    }

    #[test]
    fn connections_that_upgrade_together_do_it_once() {
        let (_directory, path) = old_journal();
        let upgrades: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| upgrade(COLUMNS, &path).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!((upgrades.iter().flatten().count(), version(&path)), (1, NEW));
    }
}
