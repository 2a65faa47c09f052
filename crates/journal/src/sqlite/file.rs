//! The file itself: only its owner may read it, and it must stay where it is.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::OpenError;
use crate::error::storage::Failure;

/// Which file, whatever its name is by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// `SQLite` goes on writing to a file that was deleted, and all of it is lost: so this is asked before each commit.
    pub(crate) fn check(self, path: &Path) -> Result<(), Failure> {
        match Self::of(path) {
            Ok(now) if now == self => Ok(()),
            _ => Err(Failure::Gone),
        }
    }
}

/// Makes sure that the file is there, can be written, and can be read by its owner alone.
pub(crate) fn prepare(path: &Path) -> Result<Identity, OpenError> {
    let fail = |source| OpenError::File { path: path.to_owned(), source };
    let directory = directory(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|source| OpenError::Directory { path: directory.to_owned(), source })?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.clone().create_new(true).open(path) {
        // The name of the file must survive a power cut as well as what is in it.
        Ok(_) => File::open(directory).and_then(|directory| directory.sync_all()).map_err(fail)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => keep_private(&options, path).map_err(fail)?,
        Err(error) => return Err(fail(error)),
    }
    Identity::of(path).map_err(fail)
}

/// A copy brought back from elsewhere is often open to all.
fn keep_private(options: &OpenOptions, path: &Path) -> io::Result<()> {
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Whether the file is empty although a log of changes to it is not. `SQLite` would take it for a new file and delete the
/// log, and with it every event in there.
pub(crate) fn has_lost_its_head(path: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    // In this order: a process that is just making the journal writes the file before the log.
    size(&beside(path, "-wal")) > 0 && size(path) == 0
}

/// The file with this ending that `SQLite` keeps beside the main one.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
