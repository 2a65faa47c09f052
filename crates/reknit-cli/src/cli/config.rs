//! The arguments of `reknit config`.

use clap::Subcommand;

use super::{AnswerBy, SetupArguments};

const SHOW_EXAMPLES: &str = "\
Examples:
  reknit config show
  REKNIT_PLAN_RETRY_MAX=5 reknit config show --changed
  reknit config show --json

The output is a configuration file with the same effect, with the origin of each value. It never contains API keys.";

const REFERENCE_EXAMPLES: &str = "\
Examples:
  reknit config reference | less
  reknit config reference | grep --before-context=3 '^call-time'";

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective settings, and where each value comes from
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Print only settings that are set
        #[arg(long)]
        changed: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// How the answer is written
        #[arg(long, value_name = "AUTHOR")]
        answer: Option<AnswerBy>,
        #[command(flatten)]
        setup: SetupArguments,
    },
    /// Print the reference page: every setting with its default, its variable and its effect
    #[command(after_help = REFERENCE_EXAMPLES)]
    Reference,
}
