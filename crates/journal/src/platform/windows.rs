//! Files and processes on Windows.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::path::Path;

use crate::Liveness;

pub(crate) fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

pub(crate) fn process_scope() -> Option<String> {
    None
}

pub(crate) fn process_started(_pid: u32) -> Option<u64> {
    None
}

/// Other processes cannot be seen without unsafe code: their leases end with their time.
pub(crate) fn process_liveness(pid: u32, _started: Option<u64>) -> Liveness {
    if pid == std::process::id() { Liveness::Alive } else { Liveness::Unknown }
}

/// The folders of a user are private by their access lists, which new folders and files inherit.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

pub(crate) fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// A folder cannot be opened as a file; NTFS journals names by itself.
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// When the file was created, in steps of 100 ns.
pub(crate) fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    Ok((fs::metadata(path)?.creation_time(), 0))
}
