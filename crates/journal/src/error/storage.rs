//! Why the file of a journal cannot be used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{ErrorCode, ffi};

/// Why the file of a journal cannot be used. What was committed before is still there, and nothing was half done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StorageError {
    /// There is no room.
    #[error("the disk is full: nothing more can be written to the journal `{}`", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        source: SqliteError,
    },
    /// It may be read, but not written.
    #[error("the journal `{}` cannot be written", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        source: SqliteError,
    },
    /// Another process kept the file to itself for longer than [`BUSY`](crate::BUSY).
    #[error("the journal `{}` is kept busy by another process", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        source: SqliteError,
    },
    /// The file is damaged, or is something else.
    #[error("the journal `{}` is damaged", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Damage,
    },
    /// The file is not there any more, or another one has taken its place.
    #[error("the journal `{}` was moved or deleted while it was in use", .path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// The system refused to read or write.
    #[error("the journal `{}` cannot be used", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        source: SqliteError,
    },
    /// The thread that writes has ended, so that nothing more is written.
    #[error("the journal `{}` is closed", .path.display())]
    Closed {
        /// The file.
        path: PathBuf,
    },
}

/// In which way a journal is damaged.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Damage {
    /// `SQLite` says so.
    #[error(transparent)]
    Sqlite(SqliteError),
    /// What stands in the tables cannot be.
    #[error("{0}")]
    Contents(String),
}

/// What `SQLite` said, in one sentence: its own chain of errors says everything twice.
#[derive(Debug, Clone)]
pub struct SqliteError(Arc<rusqlite::Error>);

impl std::fmt::Display for SqliteError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            rusqlite::Error::SqliteFailure(code, message) => {
                let words = message.as_deref().unwrap_or_else(|| ffi::code_to_str(code.extended_code));
                write!(out, "{words} (SQLite error {})", code.extended_code)
            }
            other => other.fmt(out),
        }
    }
}

impl std::error::Error for SqliteError {}

impl StorageError {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Full { path, .. } => {
                format!("make room on the disk of `{}`, then resume; what was committed is safe", path.display())
            }
            Self::ReadOnly { path, .. } | Self::Other { path, .. } => format!(
                "check that you may write to `{}` and to the directory it is in, and that the disk is well",
                path.display()
            ),
            Self::Busy { path, .. } => format!("see who holds it with `fuser {}`, then try again", path.display()),
            Self::Damaged { path, .. } => format!(
                "copy `{0}` and `{0}-wal` to another place before anything else; then bring back an older copy, or let \
                 `sqlite3 {0} .recover` read what it can",
                path.display()
            ),
            Self::Gone { path } => {
                format!("put the file back at `{}` together with its `-wal` file, then resume", path.display())
            }
            Self::Closed { .. } => "start the program again, then resume".to_owned(),
        }
    }

    pub(crate) fn new(path: &Path, failure: Failure) -> Self {
        let path = path.to_owned();
        let source = match failure {
            Failure::Contents(what) => return Self::Damaged { path, source: Damage::Contents(what) },
            Failure::Gone => return Self::Gone { path },
            Failure::Sqlite(source) => SqliteError(Arc::new(source)),
        };
        match source.0.sqlite_error_code() {
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

/// Why a store cannot do something, before anybody has said in which file.
#[derive(Debug)]
pub(crate) enum Failure {
    /// `SQLite` says so.
    Sqlite(rusqlite::Error),
    /// What stands in the tables cannot be.
    Contents(String),
    /// The file was moved or deleted.
    Gone,
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// What a store gives.
pub(crate) type Stored<T> = Result<T, Failure>;

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn words(failure: Failure) -> String {
        let error = StorageError::new(Path::new("/j.db"), failure);
        let cause = error.source().map(|cause| format!("caused by: {cause}\n")).unwrap_or_default();
        format!("{error}\n{cause}hint: {}", error.hint())
    }

    fn code(code: i32) -> Failure {
        Failure::Sqlite(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn every_failure_says_which_file_and_what_to_do() {
        insta::assert_snapshot!(words(code(ffi::SQLITE_FULL)), @"
        the disk is full: nothing more can be written to the journal `/j.db`
        caused by: database or disk is full (SQLite error 13)
        hint: make room on the disk of `/j.db`, then resume; what was committed is safe
        ");
        insta::assert_snapshot!(words(code(ffi::SQLITE_READONLY)), @"
        the journal `/j.db` cannot be written
        caused by: attempt to write a readonly database (SQLite error 8)
        hint: check that you may write to `/j.db` and to the directory it is in, and that the disk is well
        ");
        insta::assert_snapshot!(words(code(ffi::SQLITE_BUSY)), @"
        the journal `/j.db` is kept busy by another process
        caused by: database is locked (SQLite error 5)
        hint: see who holds it with `fuser /j.db`, then try again
        ");
        insta::assert_snapshot!(words(code(ffi::SQLITE_CORRUPT)), @"
        the journal `/j.db` is damaged
        caused by: database disk image is malformed (SQLite error 11)
        hint: copy `/j.db` and `/j.db-wal` to another place before anything else; then bring back an older copy, or let `sqlite3 /j.db .recover` read what it can
        ");
        insta::assert_snapshot!(words(code(ffi::SQLITE_IOERR_WRITE)), @"
        the journal `/j.db` cannot be used
        caused by: disk I/O error (SQLite error 778)
        hint: check that you may write to `/j.db` and to the directory it is in, and that the disk is well
        ");
        insta::assert_snapshot!(words(Failure::Gone), @"
        the journal `/j.db` was moved or deleted while it was in use
        hint: put the file back at `/j.db` together with its `-wal` file, then resume
        ");
    }
}
