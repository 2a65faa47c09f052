//! The arguments of `reknit agent`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{
    ApprovalArguments, AttachArguments, DriverKind, MetadataArguments, OutputArguments, RunIdArgument, SetupArguments,
};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentArguments {
    /// The agent file: settings between two `---` lines, then the instructions
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The question or task; standard input if missing or `-`
    #[arg(value_name = "INPUT")]
    pub(crate) input: Option<String>,

    #[command(flatten)]
    pub(crate) attach: AttachArguments,

    #[command(flatten)]
    pub(crate) id: RunIdArgument,

    #[command(flatten)]
    pub(crate) metadata: MetadataArguments,

    #[command(flatten)]
    pub(crate) setup: SetupArguments,

    #[command(flatten)]
    pub(crate) approval: ApprovalArguments,

    /// Print the whole report as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) output: OutputArguments,

    /// How the session is driven: `segments` reloads it from the journal after every event
    #[arg(long, value_name = "DRIVER", default_value = "steady", hide = true)]
    pub(crate) driver: DriverKind,
}

const EXAMPLES: &str = "\
Examples:
  reknit agent clerk.md \"Where is order 7?\"
  reknit agent clerk.md --json < question.txt
  reknit agent clerk.md --attach photo.jpg \"What is broken here?\"
  ./clerk.md \"Where is order 7?\"              with `#!/usr/bin/env -S reknit agent` in its first line

An agent file:
  ---
  targets: [local]                            models of reknit.toml, in order; all if missing
  tools: [orders, weather/get_weather]        tools of reknit.toml; all if missing
  maxTurns: 10
  maxRetries: 3                               attempts in each turn
  llmTimeout: 10 min
  output: {format: markdown}                  text, markdown or json, with `schema`
  ---
  You work for a shop. Say where an order is, and when it arrives.

Other settings: description, agents, plans, mending, textCalls, textAnswers, maxOutputTokens, temperature, reasoning, maxToolCalls, maxModelCalls,
maxTime, maxResultBytes, toolsAtOnce. docs/agents.md describes them.
Ctrl-C asks for the report in one last turn; a second Ctrl-C cancels the session.

Exit status:
  0    a model wrote the report
  1    the report says `failure`, or no model wrote one: EXIT-MAX-TURNS-NO-RESPONSE,
       EXIT-MAX-RETRIES, EXIT-USER-STOP, EXIT-INTERNAL-ERROR
  2    not started
  3    the report says `partial`
  5    a limit was reached, and no model wrote a report: EXIT-BUDGET-EXHAUSTED, EXIT-TIME-LIMIT, EXIT-TOKEN-LIMIT
  6    waiting for approval
  7    EXIT-AUTH-FAILURE
  8    EXIT-QUOTA-EXCEEDED
  9    EXIT-NO-PROVIDERS
  130  EXIT-SIGNAL-RECEIVED";
