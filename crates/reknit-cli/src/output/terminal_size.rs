//! The size of a terminal.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

const DEFAULT_COLUMNS: usize = 80;

/// The columns of standard output, or `None` if it is no terminal: nothing needs to be cut there.
pub(crate) fn output_columns() -> Option<usize> {
    let out = io::stdout();
    out.is_terminal().then(|| columns_and_rows(&out).0)
}

/// The columns of standard error, or `None` if it is no terminal.
pub(crate) fn error_columns() -> Option<usize> {
    let out = io::stderr();
    out.is_terminal().then(|| columns_and_rows(&out).0)
}

/// The columns and rows of a terminal; 80 columns and unlimited rows if it does not report them.
pub(crate) fn columns_and_rows(out: &impl AsFd) -> (usize, usize) {
    let known = |size: u16, otherwise: usize| if size == 0 { otherwise } else { usize::from(size) };
    rustix::termios::tcgetwinsize(out).map_or((DEFAULT_COLUMNS, usize::MAX), |size| {
        (known(size.ws_col, DEFAULT_COLUMNS), known(size.ws_row, usize::MAX))
    })
}
