//! What can be typed behind `reknit agent`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{DriverKind, WorkArguments};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentArguments {
    /// The agent: settings between two lines of `---`, then what it is told about its work
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// What it is asked; standard input if it is missing or `-`
    #[arg(value_name = "INPUT")]
    pub(crate) input: Option<String>,

    #[command(flatten)]
    pub(crate) work: WorkArguments,

    /// Print the whole report as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// How the session is driven: `segments` keeps nothing in memory between two events
    #[arg(long, value_name = "DRIVER", default_value = "steady", hide = true)]
    pub(crate) driver: DriverKind,
}

const EXAMPLES: &str = "\
Examples:
  reknit agent clerk.md \"Where is order 7?\"
  reknit agent clerk.md --json < question.txt
  ./clerk.md \"Where is order 7?\"              with `#!/usr/bin/env -S reknit agent` in its first line

An agent:
  ---
  targets: [local]                            models of reknit.toml, in order; all if it names none
  tools: [orders, weather/get_weather]        tools of reknit.toml; all if it names none
  maxTurns: 10
  maxRetries: 3                               attempts in each turn
  llmTimeout: 10 min
  output: {format: markdown}                  text, markdown or json, with `schema`
  ---
  You work for a shop. Say where an order is, and when it arrives.

Other settings: description, agents, plans, maxOutputTokens, temperature, reasoning, maxToolCalls, maxModelCalls, maxTime,
maxResultBytes, toolsAtOnce. docs/agents.md tells what each is.
Ctrl-C lets it come to its report in one last turn; twice ends it at once.

Exit status:
  0    a model wrote the report
  1    there is none: EXIT-MAX-TURNS-NO-RESPONSE, EXIT-MAX-RETRIES, EXIT-USER-STOP
  2    bad usage
  5    a limit was reached: EXIT-BUDGET-EXHAUSTED, EXIT-TIME-LIMIT, EXIT-TOKEN-LIMIT
  6    it waits for a person
  7    EXIT-AUTH-FAILURE
  8    EXIT-QUOTA-EXCEEDED
  9    EXIT-NO-PROVIDERS
  130  EXIT-SIGNAL-RECEIVED";
