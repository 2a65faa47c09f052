//! What can be typed about settings.

use clap::Subcommand;

use super::{AnswerBy, WorkArguments};

const SHOW_EXAMPLES: &str = "\
Examples:
  reknit config show
  REKNIT_PLAN_RETRY_MAX=5 reknit config show --changed
  reknit config show --json

What is printed is a configuration that means the same, with where each value comes from. Keys of models are never in it.";

const REFERENCE_EXAMPLES: &str = "\
Examples:
  reknit config reference | less
  reknit config reference | grep --before-context=3 '^call-time'";

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting as it counts, and where it comes from
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Only what is not left to its default
        #[arg(long)]
        changed: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Who writes the answer
        #[arg(long, value_name = "WHO")]
        answer: Option<AnswerBy>,
        #[command(flatten)]
        work: WorkArguments,
    },
    /// Print the reference: every setting with its default, its variable and what it does
    #[command(after_help = REFERENCE_EXAMPLES)]
    Reference,
}
