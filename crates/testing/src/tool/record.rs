//! Calls as lines in a file.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Call;

/// A file to which each call is added as one line.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
}

impl Record {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Opened anew for each line and written in one piece, so that several tools can share a file.
    pub(super) fn add(&self, tool: &str, call: &Call) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all((call.to_line(tool) + "\n").as_bytes())
    }
}
