//! Failures of a store.

use std::path::{Path, PathBuf};

#[cfg(feature = "sqlite")]
use rusqlite::{ErrorCode, ffi};

/// Why the file of a journal cannot be used. Earlier commits are intact, and no transaction is half done.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    #[error("the disk is full: cannot write to the journal `{}`", .path.display())]
    Full { path: PathBuf, source: SqliteError },
    #[error("cannot write to the journal `{}`", .path.display())]
    ReadOnly { path: PathBuf, source: SqliteError },
    /// Another process locked the file for longer than [`BUSY_TIMEOUT`](crate::BUSY_TIMEOUT).
    #[error("the journal `{}` is locked by another process", .path.display())]
    Busy { path: PathBuf, source: SqliteError },
    #[error("the journal `{}` is damaged", .path.display())]
    Damaged { path: PathBuf, source: Damage },
    /// The file does not exist any more, or another file has its path now.
    #[error("the journal `{}` was moved or deleted while it was in use", .0.display())]
    Gone(PathBuf),
    #[error("cannot read or write the journal `{}`", .path.display())]
    Other { path: PathBuf, source: SqliteError },
    #[error("the journal `{}` is closed", .0.display())]
    Closed(PathBuf),
}

/// How a journal is damaged.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Damage {
    #[error(transparent)]
    Sqlite(SqliteError),
    #[error("{0}")]
    Contents(String),
}

/// An error of `SQLite`, printed in one sentence: its own chain of errors repeats each message.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SqliteError(String);

#[cfg(feature = "sqlite")]
impl SqliteError {
    fn new(error: &rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(code, message) => {
                let message = message.as_deref().unwrap_or_else(|| ffi::code_to_str(code.extended_code));
                Self(format!("{message} (SQLite error {})", code.extended_code))
            }
            other => Self(other.to_string()),
        }
    }
}

impl StorageError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Full { path, .. } => {
                format!("free space on the disk of `{}`, then resume; committed events are safe", path.display())
            }
            Self::ReadOnly { path, .. } | Self::Other { path, .. } => format!(
                "check that you may write to `{}` and to its directory, and that the disk has no errors",
                path.display()
            ),
            Self::Busy { path, .. } => {
                format!("see which process uses it with `fuser {}`, then try again", path.display())
            }
            Self::Damaged { path, .. } => format!(
                "first copy `{0}` and `{0}-wal` to a safe place; then restore a backup, or recover what is readable with \
                 `sqlite3 {0} .recover`",
                path.display()
            ),
            Self::Gone(path) => {
                format!("put the file back at `{}` together with its `-wal` file, then resume", path.display())
            }
            Self::Closed(_) => "start the program again, then resume".to_owned(),
        }
    }

    pub(crate) fn new(path: &Path, failure: StoreFailure) -> Self {
        let path = path.to_owned();
        match failure {
            StoreFailure::Contents(problem) => Self::Damaged { path, source: Damage::Contents(problem) },
            StoreFailure::Chain { seq } => {
                let problem = format!("event {seq}, or a row that belongs to it, was changed or deleted");
                Self::Damaged { path, source: Damage::Contents(problem) }
            }
            StoreFailure::Gone => Self::Gone(path),
            #[cfg(feature = "sqlite")]
            StoreFailure::Sqlite(error) => Self::of_sqlite(path, &error),
        }
    }

    #[cfg(feature = "sqlite")]
    fn of_sqlite(path: PathBuf, error: &rusqlite::Error) -> Self {
        let source = SqliteError::new(error);
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path, source },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path, source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, source },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, source: Damage::Sqlite(source) }
            }
            _ => Self::Other { path, source },
        }
    }
}

/// A failure of a store, before the path of the file is added to it.
#[derive(Debug)]
pub(crate) enum StoreFailure {
    #[cfg(feature = "sqlite")]
    Sqlite(rusqlite::Error),
    Contents(String),
    /// The digest of an event, or of a claim before it, does not fit.
    Chain {
        seq: u64,
    },
    Gone,
}

#[cfg(feature = "sqlite")]
impl StoreFailure {
    pub(crate) fn is_lock(&self) -> bool {
        let Self::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for StoreFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The result of an operation on a store.
pub(crate) type StoreResult<T> = Result<T, StoreFailure>;

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn report(failure: StoreFailure) -> String {
        let error = StorageError::new(Path::new("/j.db"), failure);
        let cause = error.source().map(|cause| format!("caused by: {cause}\n")).unwrap_or_default();
        format!("{error}\n{cause}hint: {}", error.hint())
    }

    fn sqlite_failure(code: i32) -> StoreFailure {
        StoreFailure::Sqlite(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn every_failure_says_which_file_and_what_to_do() {
        insta::assert_snapshot!(report(sqlite_failure(ffi::SQLITE_FULL)), @"
        the disk is full: cannot write to the journal `/j.db`
        caused by: database or disk is full (SQLite error 13)
        hint: free space on the disk of `/j.db`, then resume; committed events are safe
        ");
        insta::assert_snapshot!(report(sqlite_failure(ffi::SQLITE_READONLY)), @"
        cannot write to the journal `/j.db`
        caused by: attempt to write a readonly database (SQLite error 8)
        hint: check that you may write to `/j.db` and to its directory, and that the disk has no errors
        ");
        insta::assert_snapshot!(report(sqlite_failure(ffi::SQLITE_BUSY)), @"
        the journal `/j.db` is locked by another process
        caused by: database is locked (SQLite error 5)
        hint: see which process uses it with `fuser /j.db`, then try again
        ");
        insta::assert_snapshot!(report(sqlite_failure(ffi::SQLITE_CORRUPT)), @"
        the journal `/j.db` is damaged
        caused by: database disk image is malformed (SQLite error 11)
        hint: first copy `/j.db` and `/j.db-wal` to a safe place; then restore a backup, or recover what is readable with `sqlite3 /j.db .recover`
        ");
        insta::assert_snapshot!(report(sqlite_failure(ffi::SQLITE_IOERR_WRITE)), @"
        cannot read or write the journal `/j.db`
        caused by: disk I/O error (SQLite error 778)
        hint: check that you may write to `/j.db` and to its directory, and that the disk has no errors
        ");
        insta::assert_snapshot!(report(StoreFailure::Gone), @"
        the journal `/j.db` was moved or deleted while it was in use
        hint: put the file back at `/j.db` together with its `-wal` file, then resume
        ");
    }
}
