//! The file itself: its permissions, and whether it is still at its path.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::OpenError;
use crate::error::storage::StoreFailure;
use crate::platform;

/// Identifies a file independently of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity((u64, u64));

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        platform::file_identity(path).map(Self)
    }

    /// Fails if another file, or none, is at `path` now. The writer checks this before each commit, because `SQLite` would
    /// go on writing to a deleted file and lose those writes.
    pub(crate) fn check(self, path: &Path) -> Result<(), StoreFailure> {
        match Self::of(path) {
            Ok(now) if now == self => Ok(()),
            _ => Err(StoreFailure::Gone),
        }
    }
}

/// Creates the file if needed, and makes sure that it can be written and that only its owner can read it.
pub(crate) fn prepare(path: &Path) -> Result<FileIdentity, OpenError> {
    let fail = |source| OpenError::File { path: path.to_owned(), source };
    let directory = directory(path);
    platform::create_private_folder(directory)
        .map_err(|source| OpenError::Directory { path: directory.to_owned(), source })?;
    let options = platform::private_file();
    match options.clone().create_new(true).open(path) {
        // Syncing the directory makes the name of the new file survive a power cut.
        Ok(_) => platform::sync_folder(directory).map_err(fail)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => make_private(&options, path).map_err(fail)?,
        Err(error) => return Err(fail(error)),
    }
    FileIdentity::of(path).map_err(fail)
}

/// Restricts the permissions of an existing file. A restored backup is often readable by everyone.
fn make_private(options: &OpenOptions, path: &Path) -> io::Result<()> {
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    platform::make_private(&file)
}

/// Whether the file is empty but its write-ahead log is not. `SQLite` would treat it as a new file and delete the log, with
/// every event in it.
pub(crate) fn is_empty_beside_log(path: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    // In this order, because a process that is just creating the journal writes the file before the log.
    size(&side_file(path, "-wal")) > 0 && size(path) == 0
}

/// The path of the file that `SQLite` keeps beside the main one under this suffix.
pub(crate) fn side_file(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
