//! `reknit completions`: prints a completion script.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::print::print_data;

pub(crate) fn run(shell: Shell) -> Result<(), Failure> {
    // `generate` panics if its output is closed early, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "reknit", &mut script);
    print_data(&String::from_utf8_lossy(&script))
}
