//! Prints to standard output and standard error.

use std::io::{self, Write as _};

use crate::failure::Failure;

/// Prints data on standard output.
pub(crate) fn print_data(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Failure::Write)
}

/// Prints a message for people on standard error. A closed standard error is not a failure: the data and the exit status say
/// what matters.
pub(crate) fn print_message(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
