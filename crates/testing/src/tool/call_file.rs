//! A file with one line of JSON per call.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::RecordedCall;

/// A file with one line of JSON per call.
#[derive(Debug)]
pub(super) struct CallFile {
    path: PathBuf,
}

impl CallFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Opens the file for each line and writes the line at once, so that several tools can share a file.
    pub(super) fn append(&self, tool: &str, call: &RecordedCall) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all((call.to_json_line(tool) + "\n").as_bytes())
    }
}
