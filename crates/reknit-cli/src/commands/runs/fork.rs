//! `reknit runs fork`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueHint};
use reknit_engine::{ForkWrites, Machine, Policy};
use reknit_journal::Journal;
use reknit_model_api::TargetName;
use reknit_protocol::{Object, RunId, error_chain};
use reknit_runtime::{Fork, ForkChanges, ForkError, new_run_id, operations, system_ms};

use super::compare::comparison;
use super::open_run;
use crate::drive::{self, ParameterEdit};
use crate::output::{Failure, ResultFormat, escape_controls, print_message, print_text};
use crate::setup::plan_file::parse_inputs;
use crate::setup::{
    AgentFile, DriveArguments, FileArguments, MODEL_HINT, ModelArguments, RunArgument, Setup, SetupArguments,
    config_with_arguments, load_run, named, start_failure, with_limits_of_models, with_limits_of_runs,
};

const DETAILS: &str = "\
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
#[command(after_help = DETAILS)]
pub(crate) struct ForkArguments {
    #[command(flatten)]
    run: RunArgument,
    /// The step, `plan` or `answer`, or the number of a turn of a session, from which on the fork goes its own way
    #[arg(long, value_name = "STEP")]
    at: String,
    /// Another value for a parameter of that step
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Another value for an input of the plan
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// Ask this model of the configuration; with `--model-url`, the model with this name on that server
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    #[arg(help = "The base URL of an OpenAI-compatible server, used instead of the configured models")]
    model_url: Option<String>,
    /// The environment variable that holds its API key
    #[arg(long, value_name = "VARIABLE", requires = "model_url")]
    model_key_env: Option<String>,
    /// Take the agent of a session from this file: its prompt, rules, tools and models
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    agent: Option<PathBuf>,
    /// Take limits, side effects, approval rules and the like from the configuration as it is now
    #[arg(long)]
    policy: bool,
    /// Take the prompts from the configuration as it is now
    #[arg(long)]
    prompts: bool,
    /// Send calls that may change something, from the point on
    #[arg(long)]
    allow_writes: bool,
    /// A tool, in addition to those in the configuration
    #[arg(long = "tool", id = "tool", value_name = "NAME=URL")]
    tools: Vec<String>,
    #[command(flatten)]
    files: FileArguments,
    #[command(flatten)]
    drive: DriveArguments,
}

pub(super) async fn run(arguments: &ForkArguments) -> Result<ExitCode, Failure> {
    if arguments.drive.approval.ask.is_some() && !arguments.policy {
        let message = "which calls are approved is as it was when the run started";
        return Err(Failure::usage(message, "add `--policy` to take the approval rules of now"));
    }
    let (journal, run) = open_run(&arguments.files, &arguments.run).await?;
    // A point that does not exist is found before tools and models are looked for.
    let unchanged =
        Fork::of(&journal, &run, &arguments.at, &ForkChanges::default(), (new_run_id().0, system_ms())).await;
    unchanged.map_err(|error| failure(&run, error))?;
    let saved = load_run(&journal, &run).await?.machine;
    let setup_arguments = setup_arguments(arguments);
    let mut config = config_with_arguments(&setup_arguments)?;
    let agent = arguments.agent.as_deref().map(|file| AgentFile::read(file, &config.session)).transpose()?;
    config = with_limits_of_runs(config, [&saved]);
    if let Some(agent) = &agent {
        config = with_limits_of_models(config, agent);
    }
    let setup = Setup::with_config(config, &arguments.files, &arguments.drive).await?;
    let changes = changes(arguments, &setup, &saved, agent)?;
    let (id, _) = new_run_id();
    let fork = operations::fork(&setup.reknit, &run, &arguments.at, &changes, (id.clone(), system_ms())).await;
    let fork = fork.map_err(|error| failure(&run, error))?;
    print_message(&format!("run {id} is a fork of {run}, from `{}` on\n", arguments.at));
    let code = drive::start_fork(&setup, fork, &arguments.drive).await?;
    print_comparison(&setup.reknit.journal, (&run, &id), arguments.drive.format()).await?;
    Ok(code)
}

fn setup_arguments(arguments: &ForkArguments) -> SetupArguments {
    let ForkArguments { files, tools, model, model_url, model_key_env, .. } = arguments;
    let name = model.clone().unwrap_or_else(|| "default".to_owned());
    SetupArguments {
        files: files.clone(),
        tools: tools.clone(),
        model: ModelArguments { url: model_url.clone(), name, key_env: model_key_env.clone() },
    }
}

fn changes(
    arguments: &ForkArguments,
    setup: &Setup,
    saved: &Machine,
    agent: Option<AgentFile>,
) -> Result<ForkChanges, Failure> {
    let inputs = match saved {
        Machine::Run(run) => match &run.started().plan {
            Some(plan) => parse_inputs(plan, &arguments.inputs)?,
            None if arguments.inputs.is_empty() => Object::new(),
            None => return Err(Failure::usage("only a plan that you wrote has inputs", "leave out `--input`")),
        },
        Machine::Session(_) => arguments.inputs.iter().map(|text| (text.clone(), text.as_str().into())).collect(),
    };
    let parameters = match ParameterEdit::some(&arguments.set)? {
        ParameterEdit::Some(pairs) => pairs,
        ParameterEdit::Whole(_) => Vec::new(),
    };
    let agent = agent.map(|file| setup.reknit.session_started(named(file), "").map(Box::new)).transpose();
    let agent = agent.map_err(start_failure)?;
    Ok(ForkChanges {
        parameters,
        inputs,
        targets: targets(arguments, &setup.reknit.targets)?,
        policy: policy(arguments, setup, saved.policy()),
        templates: arguments.prompts.then(|| Arc::clone(&setup.reknit.templates)),
        agent,
        writes: if arguments.allow_writes { ForkWrites::Sent } else { ForkWrites::Recorded },
    })
}

/// The model of the command line, if it names one.
fn targets(arguments: &ForkArguments, configured: &[TargetName]) -> Result<Option<Vec<TargetName>>, Failure> {
    match (&arguments.model_url, &arguments.model) {
        (Some(_), _) => Ok(Some(configured.to_vec())),
        (None, None) => Ok(None),
        (None, Some(name)) => {
            if let Some(target) = configured.iter().find(|target| target.as_str() == name) {
                return Ok(Some(vec![target.clone()]));
            }
            let known: Vec<&str> = configured.iter().map(TargetName::as_str).collect();
            let hint = match known.as_slice() {
                [] => MODEL_HINT.to_owned(),
                known => format!("configured are: {}", known.join(", ")),
            };
            Err(Failure::usage(format!("no model `{name}` is configured"), hint))
        }
    }
}

/// The policy of now, if it is asked for. Who writes the answer is as it was, unless somebody has set it.
fn policy(arguments: &ForkArguments, setup: &Setup, before: &Policy) -> Option<Arc<Policy>> {
    let new = setup.reknit.policy_with_rules();
    let sets_answer = arguments.drive.answer.is_some() || (arguments.policy && setup.sets_answers);
    let base = if arguments.policy { new.as_ref() } else { before };
    let synthesis = if sets_answer { new.synthesis } else { before.synthesis };
    (arguments.policy || sets_answer).then(|| Arc::new(Policy { synthesis, ..base.clone() }))
}

fn failure(run: &RunId, error: ForkError) -> Failure {
    let message = error.to_string();
    match error {
        ForkError::Read(error) => error.into(),
        ForkError::NoSuchPoint { known, .. } if known.is_empty() => {
            Failure::usage(message, format!("it called and asked nothing; see it with `reknit runs show {run}`"))
        }
        ForkError::NoSuchPoint { known, .. } => Failure::usage(message, format!("it has: {}", known.join(", "))),
        ForkError::Plan(problems) => Failure::Plan { problems, hint: None },
        ForkError::Differs { fork_at, .. } => {
            Failure::usage(message, format!("fork where it begins to differ: `--at {fork_at}`"))
        }
        ForkError::Missing { .. } => Failure::usage(
            message,
            "start or configure what is missing (`--tool NAME=URL`, `--model NAME`, reknit.toml)",
        ),
        ForkError::Ends { .. } => Failure::usage(message, "change something else, or fork at an earlier point"),
        other => Failure::message(error_chain(&other)),
    }
}

/// Prints where the fork differs from the run: after an answer for people on standard output, otherwise beside it.
async fn print_comparison(
    journal: &Journal,
    (run, fork): (&RunId, &RunId),
    format: ResultFormat,
) -> Result<(), Failure> {
    let text = format!("\n{}", comparison(journal, ("run", run), ("fork", fork)).await?.text());
    match format {
        ResultFormat::Text => print_text(&text),
        ResultFormat::Json | ResultFormat::Event => {
            print_message(&escape_controls(&text));
            Ok(())
        }
    }
}
