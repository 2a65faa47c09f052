//! The arguments of `reknit runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use reknit_protocol::parse_human_duration;
use reknit_runtime::config::ByteSize;

use super::{DriveArguments, FileArguments, SetupArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArguments),
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
        /// Print the full prompts and answers of models; a journal of another user shows them if LLM debugging is enabled for the run
        #[arg(long, conflicts_with = "events")]
        llm: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Explain a run in plain words: what was asked and done, what failed and was mended, what is missing, who decided, what it cost
    Explain {
        #[command(flatten)]
        run: RunArgument,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Show where a run differs from another one: status, parameters, results, repairs, the answer, calls and cost
    Compare {
        #[command(flatten)]
        run: RunArgument,
        /// The other run, named in the same way
        #[arg(value_name = "OTHER")]
        other: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Print what is stored about a run as JSON lines, without secrets: its events, and its answer or report
    #[command(after_help = EXPORT_DETAILS)]
    Export {
        #[command(flatten)]
        run: RunArgument,
        /// Print everything: also secrets, and the texts of models
        #[arg(long)]
        unredacted: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Add ended runs that `runs export` printed to the journal, to look at them
    Import {
        /// The JSON lines; `-` reads standard input
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Count what fails and what mends it, by tool, class of failure and rung
    #[command(after_help = STATS_DETAILS)]
    Stats(StatsArguments),
    /// Continue a run that stopped or waited, or all of them
    #[command(after_help = RESUME_DETAILS)]
    Resume(ResumeArguments),
    /// Try the failed and skipped steps of a run again; done steps stay done
    #[command(after_help = RETRY_DETAILS)]
    Retry(ContinueArguments),
    /// Run on from any point of a run with something changed, on its recorded answers before that point, and compare the two
    #[command(after_help = FORK_DETAILS)]
    Fork(Box<ForkArguments>),
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
    Cancel(ContinueArguments),
    /// Approve the calls that a run waits for
    #[command(after_help = APPROVE_EXAMPLES)]
    Approve(ApproveArguments),
    /// Deny the calls that a run waits for
    #[command(visible_alias = "reject")]
    Deny(DenyArguments),
    /// Say what became of a call that may have taken effect, instead of sending it again
    #[command(after_help = SETTLE_EXAMPLES)]
    Settle(SettleArguments),
    /// Delete a run; its id stays in use
    Delete(DeleteArguments),
    /// Remove old runs that have ended, and make the journal smaller
    #[command(after_help = PRUNE_DETAILS)]
    Prune(PruneArguments),
}

const LIST_EXAMPLES: &str = "\
Examples:
  reknit runs list --status failed,partial --since 2d
  reknit runs list --status waiting
  reknit runs list --tool shop --search refund --all";

const EXPORT_DETAILS: &str = "\
Values whose name says that they are secret, and texts that look like API keys, are replaced. The texts that models wrote are only
printed if LLM debugging was enabled for the run (`[llm-debug] enabled`).

Example:
  reknit runs export last > run.jsonl && reknit runs import --journal other.db run.jsonl";

const STATS_DETAILS: &str = "\
A line for each tool and each class of its failures. `resend 2 of 3`: the rung changed the call or sent it again three times, and the
next call succeeded twice. NOT MENDED: the steps that ended with such a failure.

Examples:
  reknit runs stats --since 7d
  reknit runs stats --json";

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Only runs that started in this time until now, like `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    pub(crate) since: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

const RESUME_DETAILS: &str = "\
With --all, runs that a process left, and those that wait and for which there is a decision, are continued, several at a time.
The outcome of each is one line.

Exit status: that of `reknit ask`; with --all 0 if every run is complete, 6 if the others wait for approval, otherwise 1.";

const RETRY_DETAILS: &str = "\
The run must have ended as partial, as failed or at a limit. It goes on in the same journal: its limits count anew, failed and
skipped steps are tried again, and results stay. A call that may have taken effect is sent again under the same idempotency key; if
its side effect is unsafe, only after a check or your approval. Sessions cannot be retried.

Exit status: that of `reknit ask`.";

const FORK_DETAILS: &str = "\
The fork is a run of its own, which names the run that it comes from. Up to the point it has the answers of that run: nothing is
called, asked or waited for again. From the point on, tools that only read and models are asked. Other calls are not sent: a call
that the run has made as well gets the same answer, and any other fails, unless --allow-writes is given. At the end, the two runs
are compared. What is not changed is as it was when the run started: limits, approval rules, prompts, tools and models.

Examples:
  reknit runs fork last --at pay --set amount=5
  reknit runs fork last --at answer --model other
  reknit runs fork last --at 2 --agent clerk.md        a session, from its second turn on, with a changed agent file
  reknit runs fork last --at pay --policy              with the limits and rules of the configuration as it is now

Exit status: that of `reknit ask`.";

#[derive(Debug, Args)]
pub(crate) struct ForkArguments {
    #[command(flatten)]
    pub(crate) run: RunArgument,
    /// The step, `plan` or `answer`, or the number of a turn of a session, from which on the fork goes its own way
    #[arg(long, value_name = "STEP")]
    pub(crate) at: String,
    /// Another value for a parameter of that step
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Another value for an input of the plan
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// Ask this model of the configuration; with `--model-url`, the model with this name on that server
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    #[arg(help = "The base URL of an OpenAI-compatible server, used instead of the configured models")]
    pub(crate) model_url: Option<String>,
    /// The environment variable that holds its API key
    #[arg(long, value_name = "VARIABLE", requires = "model_url")]
    pub(crate) model_key_env: Option<String>,
    /// Take the agent of a session from this file: its prompt, rules, tools and models
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Option<PathBuf>,
    /// Take limits, side effects, approval rules and the like from the configuration as it is now
    #[arg(long)]
    pub(crate) policy: bool,
    /// Take the prompts from the configuration as it is now
    #[arg(long)]
    pub(crate) prompts: bool,
    /// Send calls that may change something, from the point on
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// A tool, in addition to those in the configuration
    #[arg(long = "tool", id = "tool", value_name = "NAME=URL")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) files: FileArguments,
    #[command(flatten)]
    pub(crate) drive: DriveArguments,
}

const PRUNE_DETAILS: &str = "\
Without --older-than, --keep and --max-size, the limits are those of the configuration: `[journal] keep-time`, `keep-runs` and
`keep-size`. Runs that have not ended are never removed. The ids of removed runs stay in use, so that `--run-id` does nothing
twice. Processes that drive runs prune by themselves, by the limits of the configuration.

Examples:
  reknit runs prune --dry-run
  reknit runs prune --older-than 30d
  reknit runs prune --keep 1000 --max-size 2GB";

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only runs with this status, or one of several: `failed,partial`
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = STATUSES)]
    pub(crate) status: Vec<String>,
    /// Only runs that started in this time until now, like `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    pub(crate) since: Option<u64>,
    /// Only runs that used this tool: `shop` or `shop/refund`
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// Only runs whose request contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// The most runs to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// List all runs
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Print JSON, one run per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

/// What `runs list` prints as the status of a run or a session.
const STATUSES: [&str; 13] = [
    "running",
    "waiting",
    "stopped",
    "parked",
    "complete",
    "partial",
    "failed",
    "impossible",
    "cancelled",
    "budget_exhausted",
    "success",
    "failure",
    "closed",
];

#[derive(Debug, Args)]
pub(crate) struct DeleteArguments {
    #[command(flatten)]
    pub(crate) run: RunArgument,
    /// Delete without a question
    #[arg(long)]
    pub(crate) yes: bool,
    /// Delete the run even if it has not ended; calls that it has made are not undone
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Remove runs that ended longer ago, like `30d`
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    pub(crate) older_than: Option<u64>,
    /// Keep only this many ended runs, the newest
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u32>,
    /// Remove the oldest runs until the journal has at most this size, like `2GB`
    #[arg(long, value_name = "SIZE", value_parser = byte_size)]
    pub(crate) max_size: Option<u64>,
    /// Only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

fn duration_ms(text: &str) -> Result<u64, String> {
    parse_human_duration(text).ok_or_else(|| "write a time with its unit, like `30d` or `12h`".to_owned())
}

fn byte_size(text: &str) -> Result<u64, String> {
    ByteSize::parse(text)
        .map(|size| size.0)
        .ok_or_else(|| "write a size with its unit, like `500MB` or `2GB`".to_owned())
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
    /// The id of the run, its first characters, or `last`
    #[arg(value_name = "RUN", required_unless_present = "all")]
    pub(crate) run: Option<String>,
    /// Continue every run that a process left, and every one that waits and for which there is a decision
    #[arg(long, conflicts_with = "run")]
    pub(crate) all: bool,
    /// How many runs are driven at the same time with `--all`
    #[arg(long, value_name = "N", default_value_t = 8, requires = "all", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) at_once: u32,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
    #[command(flatten)]
    pub(crate) drive: DriveArguments,
    /// Continue a parked run from what this build decides for its events, although it decided otherwise before
    #[arg(long, conflicts_with = "all")]
    pub(crate) accept_changes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ContinueArguments {
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
