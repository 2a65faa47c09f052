//! The arguments of `reknit chaos`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::SetupArguments;

pub(crate) const DETAILS: &str = "\
Examples:
  reknit chaos tests/refund.yaml                   with the recorded answers of a test
  reknit chaos refund.yaml --input order=7         run a plan once with your tools, then with its answers
  reknit chaos clerk.md \"Where is order 7?\" --html report.html

The run is repeated with each fault at each of its calls and questions: timeouts, broken connections, 429 with a date, 503,
half bodies, errors inside a 200, wrong types, stale ids, slow answers, truncated and text-only answers of models, outages of
their provider, our own process killed and started again, and clock steps. Time is virtual. No fault reaches your tools: the
cases are run with the recorded answers. Each case is

  mended            the same status, results and effects as without the fault
  reported          the run says what is missing or uncertain
  open              a model would have to react to something that was never recorded
  wrong and silent  the run claims what is not true, or an effect took place twice
  cannot go on      no process can restore the run or drive it to its end, or the fault did not happen

JSON (--json):
  {\"status\", \"effects\", \"kills\": \"tasks\" | \"process\", \"counts\", \"cases\": [{\"effect\", \"of\", \"fault\", \"verdict\", \"status\", \"reason\"?, \"duplicates\"?,
   \"extra_calls\", \"extra_questions\", \"extra_ms\", \"extra_cost\"}]}

Exit status: 0 no case is wrong and silent or cannot go on, 1 there is one, 2 not started, or the run fails without a fault.";

#[derive(Debug, Args)]
pub(crate) struct ChaosArguments {
    /// A test, a plan or an agent
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The question to an agent
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// A value for an input of a plan; overrides its default
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// Chooses jitter, waits and the fields that are damaged
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Also call tools that change something, in the one run of a plan or an agent with your tools
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// Kill processes of their own with SIGKILL, with a journal in a file and in real time, instead of all tasks of the driver at once
    #[arg(long)]
    pub(crate) kill_processes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the report as a page
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
}
