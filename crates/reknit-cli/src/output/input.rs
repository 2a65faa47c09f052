//! An input: a file or standard input, and its name in messages.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::output::shell_word;

/// A file, or standard input.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// The input that a file argument names: standard input if it is missing or `-`.
    pub(crate) fn new(file: Option<&Path>) -> Self {
        match file {
            None => Self::Stdin,
            Some(path) if path.as_os_str() == "-" => Self::Stdin,
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// The end of a command line that reads the same input: a space and the file, or nothing for standard input.
    pub(crate) fn as_argument(&self) -> String {
        match self {
            Self::Stdin => String::new(),
            Self::File(path) => format!(" {}", shell_word(&path.display().to_string())),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => write!(f, "`{}`", path.display()),
        }
    }
}
