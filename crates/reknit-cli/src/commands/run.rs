//! `reknit run`: runs a plan from a file.

use std::path::PathBuf;
use std::process::ExitCode;

use reknit_engine::{RequestDigest, Started};
use reknit_plan::{Catalogue, PlanAuthor, check, correct_plan, plan_notes, resolve_inputs};
use reknit_protocol::Plan;
use reknit_runtime::{NamedAgent, operations};

use super::EXIT_STATUS;
use crate::drive::{continue_started, drive};
use crate::output::{Failure, Input};
use crate::setup::plan_file::{self, PlanRun};
use crate::setup::{
    AgentFile, DriveArguments, MetadataArguments, RunIdArgument, Setup, SetupArguments, named, start_failure,
};
use clap::{Args, ValueHint};

const EXAMPLES: &str = "\
Examples:
  reknit run plan.yaml --input shares=200
  reknit run --tool weather=http://127.0.0.1:8085 --answer template plan.json
  cat plan.json | reknit run --json -
";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES.to_owned() + EXIT_STATUS)]
pub(crate) struct RunPlanArguments {
    /// The plan as YAML, JSON or a model's answer; `-` reads standard input
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    plan: PathBuf,
    /// A value for an input of the plan; overrides its default
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    #[command(flatten)]
    id: RunIdArgument,
    #[command(flatten)]
    metadata: MetadataArguments,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    drive: DriveArguments,
}

pub(crate) async fn run(arguments: &RunPlanArguments) -> Result<ExitCode, Failure> {
    let RunPlanArguments { plan, inputs, id, metadata, setup: arguments, drive: drive_arguments } = arguments;
    let input = Input::new(Some(plan));
    let metadata = metadata.parse()?;
    let PlanRun { file, inputs, request, agents, config } = PlanRun::load(&input, inputs, arguments)?;
    let plan = file.plan.clone();
    let digest = RequestDigest::of_run(&request, Some(&plan), &inputs, &metadata)
        .with_agents(agents.iter().flat_map(AgentFile::texts));
    if let Some(code) = continue_started(id, &digest, arguments, drive_arguments).await? {
        return Ok(code);
    }
    let setup = Setup::with_config(config, &arguments.files, drive_arguments).await?;
    if agents.is_empty() {
        setup.require_tools()?;
    }
    let agents: Vec<NamedAgent> = agents.into_iter().map(named).collect();
    let started = setup.reknit.started_with_agents(&request, plan.clone(), agents).map_err(start_failure)?;
    // The run corrects names itself and records it. This check only finds problems before the run starts.
    let mut corrected = plan.clone();
    correct_plan(&mut corrected, &started.catalogue, PlanAuthor::Person);
    started.policy.effects.add_confirmations(&mut corrected);
    let of_plan = check(&corrected, &started.catalogue, PlanAuthor::Person).err().unwrap_or_default();
    // A problem of a value that was given on the command line has no place in the file.
    let of_inputs = resolve_inputs(&plan, &inputs).err().unwrap_or_default();
    if !of_plan.is_empty() || !of_inputs.is_empty() {
        let problems = file.lines(&of_plan).into_iter().chain(plan_file::lines(&of_inputs)).collect();
        return Err(Failure::Plan { problems, hint: plan_file::input_hint(&of_inputs) });
    }
    if setup.reknit.targets.is_empty() {
        reject_steps_that_need_a_model(&corrected, &started.catalogue)?;
    }
    let started = Started { inputs, ..started };
    let started = operations::start(&setup.reknit, started, id.options(metadata, Vec::new()))?;
    drive(&setup, started.with_request_digest(digest), drive_arguments).await
}

/// Without a model, a step that needs one would fail after earlier steps had side effects.
fn reject_steps_that_need_a_model(plan: &Plan, catalogue: &Catalogue) -> Result<(), Failure> {
    let notes = plan_notes(plan, catalogue, PlanAuthor::Person);
    let problems: Vec<String> =
        notes.iter().filter(|note| note.needs_model).map(|note| note.problem.to_string()).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let hint = "write the value into the plan, or name a model: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml";
    Err(Failure::Plan { problems, hint: Some(hint.to_owned()) })
}
