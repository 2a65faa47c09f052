//! Why a journal could not be opened.

use std::io;
use std::path::PathBuf;

use crate::StorageError;

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    #[error("cannot create the directory `{}` for the journal", .path.display())]
    Directory { path: PathBuf, source: io::Error },
    /// The file cannot be opened for reading and writing, or its permissions cannot be restricted to the owner.
    #[error("cannot open the journal `{}`", .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{}` is not a journal", .0.display())]
    NotAJournal(PathBuf),
    #[error("the journal `{}` was written by an older build of Reknit (format {found}, not {supported})", .path.display())]
    Older { path: PathBuf, found: u32, supported: u32 },
    /// The file of an older build cannot be copied before it is changed. It was not changed.
    #[error("cannot make the backup `{}` of the journal before it is upgraded", .path.display())]
    Backup { path: PathBuf, source: io::Error },
    #[error("the journal `{}` was written by a newer build of Reknit (format {found}, not {supported})", .path.display())]
    Newer { path: PathBuf, found: u32, supported: u32 },
    /// The file system does not support memory shared between processes, which `SQLite` needs for concurrent readers.
    #[error("the file system of `{}` does not support the shared memory that a journal needs", .0.display())]
    UnsupportedFileSystem(PathBuf),
    #[error("cannot start the thread that writes the journal `{}`", .path.display())]
    Thread { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl OpenError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Directory { path, .. } => {
                format!("create `{}` yourself, or choose another path for the journal", path.display())
            }
            Self::File { path, .. } => {
                format!("check that you may read and write `{}` and its directory", path.display())
            }
            Self::NotAJournal(_) => "choose another path for the journal; this file was not changed".to_owned(),
            Self::Older { path, .. } => format!(
                "keep it for the older build and start a new one with `mv {0} {0}.old`, or choose another path for the \
                 journal; its contents were not changed",
                path.display()
            ),
            Self::Backup { path, .. } => {
                format!("make room for a copy of the journal at `{}`, then try again", path.display())
            }
            Self::Newer { path, supported, .. } => format!(
                "use the newer build, or choose another path for the journal; its contents were not changed. The newer build \
                 left a copy of what was there before it at `{}.v{supported}-backup`, if it upgraded this journal",
                path.display()
            ),
            Self::UnsupportedFileSystem(_) => "choose a path for the journal on a local disk".to_owned(),
            Self::Thread { .. } => "end other programs, or raise the limit of processes (`ulimit -u`)".to_owned(),
            Self::Storage(error) => error.hint(),
        }
    }
}
