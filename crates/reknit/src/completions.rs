//! `reknit completions`: prints a completion script.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;

pub(crate) fn run(shell: Shell) -> Result<(), Failure> {
    // `generate` panics if its output is closed early, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "reknit", &mut script);
    let mut output = std::io::stdout().lock();
    output.write_all(&script).and_then(|()| output.flush()).map_err(Failure::Write)
}
