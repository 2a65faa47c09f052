//! `reknit completions`: prints a completion script.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::output::{Failure, print_data};

const EXAMPLES: &str = "\
Examples:
  reknit completions bash > ~/.local/share/bash-completion/completions/reknit
  reknit completions zsh > ~/.zfunc/_reknit
  reknit completions fish > ~/.config/fish/completions/reknit.fish";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell to complete for
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<(), Failure> {
    // `generate` panics if its output is closed early, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "reknit", &mut script);
    print_data(&String::from_utf8_lossy(&script))
}
