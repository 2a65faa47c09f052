//! The beginning of the file, read without `SQLite`: opening any database with `SQLite` can create files beside it and move
//! its write-ahead log into it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::schema::APPLICATION_ID;

/// The beginning of every database of `SQLite`.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The header of the file and the header of its first page.
const HEADER_BYTES: usize = 108;

/// What the beginning of a file says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileHeader {
    /// Possibly a journal: `SQLite` must tell.
    Possible,
    /// Certainly not a journal.
    Foreign,
}

impl FileHeader {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        // Opening a named pipe would wait for its writer.
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            // The error is reported when the file is opened for writing.
            _ => return Ok(Self::Possible),
        }
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        File::open(path)?.take(HEADER_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(Self::of(&bytes))
    }

    /// See <https://www.sqlite.org/fileformat.html>.
    fn of(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::Possible;
        }
        let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (Some(version), Some(application_id), true) = (number(60), number(68), bytes.starts_with(MAGIC)) else {
            return Self::Foreign;
        };
        match application_id {
            APPLICATION_ID => Self::Possible,
            // The list of tables, on the first page, has no entry: the tables of a new journal may still be in its log.
            0 if version == 0 && bytes.get(103..105) == Some(&[0, 0]) => Self::Possible,
            _ => Self::Foreign,
        }
    }
}
