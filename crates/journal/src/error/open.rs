//! Why a journal could not be opened.

use std::io;
use std::path::PathBuf;

use crate::StorageError;

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be made.
    #[error("cannot create the directory `{}` for the journal", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be opened for reading and writing, or kept from others.
    #[error("cannot open the journal `{}`", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("`{}` is not a journal", .path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer Reknit.
    #[error("the journal `{}` has version {found}; this Reknit knows versions up to {known}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it has.
        found: u32,
        /// The newest version that is known here.
        known: u32,
    },
    /// The file system cannot share memory between processes, which reading beside the writer needs.
    #[error("the file system of `{}` is not suited for a journal", .path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
    },
    /// The system does not give another thread.
    #[error("cannot start the thread that writes the journal `{}`", .path.display())]
    Thread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl OpenError {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Directory { path, .. } => {
                format!("create `{}` yourself, or choose another place for the journal", path.display())
            }
            Self::File { path, .. } => {
                format!("check that you may read and write `{}` and its directory", path.display())
            }
            Self::NotAJournal { .. } => "choose another place for the journal; this file was not touched".to_owned(),
            Self::Newer { .. } => "update Reknit, or choose another place for the journal".to_owned(),
            Self::Unsuitable { .. } => "choose a place for the journal on a local disk".to_owned(),
            Self::Thread { .. } => "end other programs, or raise the limit of processes (`ulimit -u`)".to_owned(),
            Self::Storage(error) => error.hint(),
        }
    }
}
