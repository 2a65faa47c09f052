//! Accepts only regular files where a file holds settings: a named pipe or a device might never end.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Fails if the path, followed through links, is not a regular file.
pub fn check_regular_file(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    let (error, problem) = match kind {
        _ if kind.is_file() => return Ok(()),
        _ if kind.is_dir() => (ErrorKind::IsADirectory, "it is a folder, not a regular file"),
        _ if kind.is_fifo() => (ErrorKind::InvalidInput, "it is a pipe, not a regular file"),
        _ if kind.is_socket() => (ErrorKind::InvalidInput, "it is a socket, not a regular file"),
        _ => (ErrorKind::InvalidInput, "it is a device, not a regular file"),
    };
    Err(io::Error::new(error, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_accepted() {
        let kind = |path: &str| check_regular_file(Path::new(path)).map_err(|error| error.kind());
        assert_eq!(kind(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")), Ok(()));
        assert_eq!(kind(env!("CARGO_MANIFEST_DIR")), Err(ErrorKind::IsADirectory));
        assert_eq!(kind("/dev/null"), Err(ErrorKind::InvalidInput));
        assert_eq!(kind("/dev/there/is/no/such/file"), Err(ErrorKind::NotFound));
    }
}
