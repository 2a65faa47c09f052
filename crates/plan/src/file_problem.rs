//! Errors in a plan file.

use std::fmt;

use reknit_protocol::Path;

/// One error in a plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The path of the value; the root if the text cannot be parsed.
    pub path: Path,
    /// The line and the column, from 1, if they are known.
    pub position: Option<(usize, usize)>,
    pub message: String,
    /// What to write instead, if the reader knows it.
    pub hint: Option<String>,
}

impl FileProblem {
    /// An error of the whole text.
    pub(crate) fn new(position: Option<(usize, usize)>, message: String, hint: Option<&str>) -> Self {
        Self { path: Path::root(), position, message, hint: hint.map(str::to_owned) }
    }
}

impl std::error::Error for FileProblem {}

impl fmt::Display for FileProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(out, "line {line}, column {column}: ")?;
        }
        if !self.path.is_root() {
            let path = self.path.to_string();
            write!(out, "`{}`: ", path.strip_prefix("$.").unwrap_or(&path))?;
        }
        out.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(out, " ({hint})"),
            None => Ok(()),
        }
    }
}
