//! `reknit agent`: starts a session.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_engine::RequestDigest;
use reknit_runtime::operations;

use crate::drive::{continue_started, drive};
use crate::output::{Failure, Input};
use crate::setup::{
    AgentFile, ApprovalArguments, AttachArguments, DriveArguments, MetadataArguments, OutputArguments, RunIdArgument,
    Setup, SetupArguments, config_with_arguments, named, read_attachments, start_failure, with_limits_of_models,
};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentArguments {
    /// The agent file: settings between two `---` lines, then the instructions
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// The question or task; standard input if missing or `-`
    #[arg(value_name = "INPUT")]
    input: Option<String>,
    #[command(flatten)]
    attach: AttachArguments,
    #[command(flatten)]
    id: RunIdArgument,
    #[command(flatten)]
    metadata: MetadataArguments,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    approval: ApprovalArguments,
    /// Print the whole report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: OutputArguments,
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
  1    the report says `failure`, or no model wrote one: max turns no response,
       max retries, user stop, internal error
  2    not started
  3    the report says `partial`
  5    a limit was reached, and no model wrote a report: budget exhausted, time limit, token limit
  6    waiting for approval
  7    auth failure
  8    quota exceeded
  9    no providers
  130  signal received";

pub(crate) async fn run(arguments: &AgentArguments) -> Result<ExitCode, Failure> {
    let metadata = arguments.metadata.parse()?;
    let config = config_with_arguments(&arguments.setup)?;
    let agent = AgentFile::read(&arguments.file, &config.session)?;
    let config = with_limits_of_models(config, &agent);
    let input = match arguments.input.as_deref() {
        None | Some("-") => Input::Stdin.read_text()?,
        Some(input) => input.to_owned(),
    };
    if input.trim().is_empty() {
        return Err(Failure::usage(
            "the input of the agent is empty",
            "write the question or task after the agent file: `reknit agent FILE \"QUESTION\"`",
        ));
    }
    let drive_arguments = DriveArguments::of_session(&arguments.approval, arguments.json, &arguments.output);
    let attachments = read_attachments(&arguments.attach)?;
    let digest = RequestDigest::of_session(agent.texts(), input.trim(), &metadata).with_attachments(&attachments);
    if let Some(code) = continue_started(&arguments.id, &digest, &arguments.setup, &drive_arguments).await? {
        return Ok(code);
    }
    let setup = Setup::with_config(config, &arguments.setup.files, &drive_arguments).await?;
    let started = setup.reknit.session_started(named(agent), &input).map_err(start_failure)?;
    let started = operations::start(&setup.reknit, started, arguments.id.options(metadata, attachments))?;
    drive(&setup, started.with_request_digest(digest), &drive_arguments).await
}
