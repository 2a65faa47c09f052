//! The arguments of `reknit runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{DriveArguments, FileArguments, SetupArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first
    List {
        /// The most runs to list
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// List all runs
        #[arg(long, conflicts_with = "limit")]
        all: bool,
        /// Print JSON, one run per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Show a run: each step, its attempts, its parameters and where they come from
    Show {
        #[command(flatten)]
        run: RunArgument,
        /// Show only this step
        #[arg(long, value_name = "STEP", conflicts_with_all = ["events", "llm", "json"])]
        step: Option<String>,
        /// List the events of the journal
        #[arg(long)]
        events: bool,
        /// Print the full prompts and answers of models, if LLM debugging is enabled for the run
        #[arg(long, conflicts_with = "events")]
        llm: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Print everything that is stored about a run as JSON lines: its events, and its answer or report
    Export {
        #[command(flatten)]
        run: RunArgument,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Continue a run that stopped or waited
    Resume {
        #[command(flatten)]
        arguments: ResumeArguments,
        /// Continue a parked run from what this build decides for its events, although it decided otherwise before
        #[arg(long)]
        accept_changes: bool,
    },
    /// End a parked run, which this build cannot continue; its events are kept
    Close {
        #[command(flatten)]
        run: RunArgument,
        /// Why it is closed
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Cancel a run; calls in progress may still complete
    Cancel(ResumeArguments),
    /// Approve the calls that a run waits for
    #[command(after_help = APPROVE_EXAMPLES)]
    Approve(ApproveArguments),
    /// Deny the calls that a run waits for
    #[command(visible_alias = "reject")]
    Deny(DenyArguments),
    /// Say what became of a call that may have taken effect, instead of sending it again
    #[command(after_help = SETTLE_EXAMPLES)]
    Settle(SettleArguments),
}

const APPROVE_EXAMPLES: &str = "\
Examples:
  reknit runs approve last
  reknit runs approve last pay --set amount=50
  reknit runs approve last pay --edit '{\"amount\": 50, \"to\": \"ann\"}'";

const SETTLE_EXAMPLES: &str = "\
Examples:
  reknit runs settle last --happened --result '{\"refund_id\": 7}'
  curl https://shop.example/refunds/7 | reknit runs settle last refund --happened --result-file -
  reknit runs settle last --did-not-happen
  reknit runs settle last --check";

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) run: RunArgument,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
    #[command(flatten)]
    pub(crate) drive: DriveArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DecideArguments {
    #[command(flatten)]
    pub(crate) run: RunArgument,
    /// Decide only about this step
    #[arg(value_name = "STEP")]
    pub(crate) step: Option<String>,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    #[command(flatten)]
    pub(crate) decide: DecideArguments,
    /// Approve the call with all its parameters replaced by these
    #[arg(long, value_name = "JSON", conflicts_with = "set")]
    pub(crate) edit: Option<String>,
    /// Approve the call with this parameter changed
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArguments {
    #[command(flatten)]
    pub(crate) decide: DecideArguments,
    /// Why not: part of the answer, and an agent's model reads it
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SettleArguments {
    #[command(flatten)]
    pub(crate) decide: DecideArguments,
    #[command(flatten)]
    pub(crate) outcome: OutcomeArguments,
    /// The result of the call, as JSON; without one, the step has the result null
    #[arg(long, value_name = "JSON", conflicts_with_all = ["did_not_happen", "check"])]
    pub(crate) result: Option<String>,
    /// The file with the result of the call; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["result", "did_not_happen", "check"], value_hint = ValueHint::FilePath)]
    pub(crate) result_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct OutcomeArguments {
    /// The call took effect: its step is done
    #[arg(long)]
    pub(crate) happened: bool,
    /// The call did not take effect: it is sent again
    #[arg(long)]
    pub(crate) did_not_happen: bool,
    /// Ask the tool again whether the call took effect, as `[[checks]]` in the configuration says
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgument {
    /// The id of the run, its first characters, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}
