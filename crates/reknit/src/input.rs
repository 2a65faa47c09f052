//! Where the text comes from.

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use reknit_salvage::ReadOptions;

use crate::failure::{Failure, NotText};
use crate::show::shell_word;

/// A file, or standard input.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// What was typed in the place of the file.
    pub(crate) fn new(file: Option<&Path>) -> Self {
        match file {
            None => Self::Stdin,
            Some(path) if path.as_os_str() == "-" => Self::Stdin,
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// Opens it. A person who is waited for is told so.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, Failure> {
        match self {
            Self::Stdin => {
                let stdin = io::stdin();
                if stdin.is_terminal() {
                    let _ = writeln!(io::stderr(), "note: reading from the terminal; end with Ctrl-D");
                }
                Ok(Box::new(stdin.lock()))
            }
            Self::File(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(source) => Err(Failure::Input { input: self.clone(), source }),
            },
        }
    }

    /// All of it, as text.
    pub(crate) fn read_text(&self) -> Result<String, Failure> {
        self.read_up_to(ReadOptions::default().max_bytes)
    }

    /// All of it, as text, if it has no more bytes than this.
    pub(crate) fn read_up_to(&self, limit: usize) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        // One byte more than is allowed, to know that there is more.
        let take = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        self.open()?
            .take(take)
            .read_to_end(&mut bytes)
            .map_err(|source| Failure::Input { input: self.clone(), source })?;
        if bytes.len() > limit {
            return Err(Failure::TooLong { input: self.clone(), limit });
        }
        String::from_utf8(bytes)
            .map_err(|error| Failure::NotText { input: self.clone(), source: NotText::new(&error.into_bytes()) })
    }

    /// The rest of a command line that reads the same input.
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
