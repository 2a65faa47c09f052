//! The arguments of `reknit chat`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{ApprovalArguments, MetadataArguments, OutputArguments, SetupArguments};

#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// The agent file [default: agent.md in the current folder, or an agent with all tools]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// Go on with a conversation: the id of its run, or the newest one
    #[arg(long = "continue", value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    #[arg(conflicts_with_all = ["file", "meta", "ask"])]
    pub(crate) continued: Option<String>,

    #[command(flatten)]
    pub(crate) metadata: MetadataArguments,

    #[command(flatten)]
    pub(crate) setup: SetupArguments,

    #[command(flatten)]
    pub(crate) approval: ApprovalArguments,

    /// Print each answer as a line of JSON: the whole report
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

pub(super) const DETAILS: &str = "\
Examples:
  reknit chat                          talk with agent.md, or with an agent that has all tools
  reknit chat clerk.md
  reknit chat --continue               go on with the newest conversation
  printf 'Where is order 7?\\nAnd order 8?\\n' | reknit chat clerk.md

Each line is a message. /help lists the commands, /exit or Ctrl-D leaves. Ctrl-C stops an answer, and at the prompt it leaves.
A conversation is one run: every message and call is in the journal, and `reknit runs show` shows them.

Exit status: 0, or 2 not started, 6 waiting for approval. If the messages come from a pipe: that of `reknit agent` for the last one.";
