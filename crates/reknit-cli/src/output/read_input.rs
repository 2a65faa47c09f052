//! Reads an input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};

use reknit_runtime::config::check_regular_file;
use reknit_salvage::ReadOptions;

use crate::output::{Failure, Input, NotUtf8, print_message};

impl Input {
    /// Opens the input. Prints a note if a person has to type it.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, Failure> {
        match self {
            Self::Stdin => {
                let stdin = io::stdin();
                if stdin.is_terminal() {
                    print_message("note: reading from the terminal; press Ctrl-D to end the input\n");
                }
                Ok(Box::new(stdin.lock()))
            }
            Self::File(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(source) => Err(Failure::Input { input: self.clone(), source }),
            },
        }
    }

    /// Reads the whole input as UTF-8 text, up to the limit of the reader of model answers.
    pub(crate) fn read_text(&self) -> Result<String, Failure> {
        self.read_up_to(ReadOptions::default().max_bytes)
    }

    /// The same for a file that holds settings, an agent or a plan: fails if it is a pipe or a device, which might never end.
    pub(crate) fn read_regular_up_to(&self, limit: usize) -> Result<String, Failure> {
        if let Self::File(path) = self {
            check_regular_file(path).map_err(|source| Failure::Input { input: self.clone(), source })?;
        }
        self.read_up_to(limit)
    }

    /// Reads the whole input as UTF-8 text. Fails if it has more than `limit` bytes.
    pub(crate) fn read_up_to(&self, limit: usize) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        // One more byte than allowed shows that the input is too long.
        let take = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        self.open()?
            .take(take)
            .read_to_end(&mut bytes)
            .map_err(|source| Failure::Input { input: self.clone(), source })?;
        if bytes.len() > limit {
            return Err(Failure::TooLong { input: self.clone(), limit });
        }
        String::from_utf8(bytes)
            .map_err(|error| Failure::NotUtf8 { input: self.clone(), source: NotUtf8::new(&error.into_bytes()) })
    }
}
