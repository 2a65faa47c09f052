//! `reknit tools call`: one call, as a run with one step. It is journalled, mended and approved like any other.

use std::process::ExitCode;

use clap::Args;
use reknit_engine::{Metadata, RequestDigest};
use reknit_plan::{PlanAuthor, check, correct_plan};
use reknit_protocol::{Object, Plan, Step, Value};
use reknit_runtime::operations;

use super::find;
use crate::commands::EXIT_STATUS;
use crate::drive::{continue_started, drive};
use crate::output::Failure;
use crate::setup::{AnswerBy, DriveArguments, RunIdArgument, Setup, SetupArguments, plan_file};

const DETAILS: &str = "\
A value that is JSON is sent as such: `quantity=2` is a number, `tags='[\"a\"]'` a list. What does not fit the parameters of the
capability is fitted to them, as in every run: `name=7` becomes a text if the capability wants one.

Examples:
  reknit tools call shop/get_item item_id=7
  reknit tools call shop/create_order '{\"item\": \"tea\", \"quantity\": 2}'
";

#[derive(Debug, Args)]
#[command(after_help = DETAILS.to_owned() + EXIT_STATUS)]
pub(crate) struct CallArguments {
    /// The capability, like `shop/create_order`; a name that only one tool has is enough
    #[arg(value_name = "TOOL/CAPABILITY")]
    capability: String,
    /// The parameters: `name=value` each, or one JSON object
    #[arg(value_name = "PARAMETER")]
    parameters: Vec<String>,
    #[command(flatten)]
    id: RunIdArgument,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    drive: DriveArguments,
}

const STEP: &str = "call";

pub(super) async fn run(mut arguments: CallArguments) -> Result<ExitCode, Failure> {
    let parameters = parse(&arguments.parameters)?;
    arguments.drive.answer.get_or_insert(AnswerBy::Raw);
    arguments.drive.only_step = Some(STEP);
    // What a person typed: which tool has the capability may be unknown while that tool cannot be reached.
    let digest = RequestDigest::of_run(&arguments.capability, None, &parameters, &Metadata::default());
    if let Some(code) = continue_started(&arguments.id, &digest, &arguments.setup, &arguments.drive).await? {
        return Ok(code);
    }
    let setup = Box::pin(Setup::new(&arguments.setup, &arguments.drive)).await?;
    let (tool, entry) = find(&setup.reknit.catalogue, &arguments.capability)?;
    let step = Step::new(STEP, tool.name.clone(), entry.capability.name.as_str(), "").with_parameters(parameters);
    // What a person typed is what they want: it supports corrections.
    let request = format!("{} {}", tool.key(entry), arguments.parameters.join(" "));
    let plan = Plan::new(tool.key(entry), request.trim(), vec![step]);
    let mut corrected = plan.clone();
    correct_plan(&mut corrected, &setup.reknit.catalogue, PlanAuthor::Person);
    if let Err(problems) = check(&corrected, &setup.reknit.catalogue, PlanAuthor::Person) {
        let hint = format!("`reknit tools show {}` lists its parameters", tool.key(entry));
        return Err(Failure::Plan { problems: plan_file::lines(&problems), hint: Some(hint) });
    }
    let started = setup.reknit.started(&plan.original_request.clone(), Some(plan));
    let options = arguments.id.options(Metadata::default(), Vec::new());
    let started = operations::start(&setup.reknit, started, options)?.with_request_digest(digest);
    drive(&setup, started, &arguments.drive).await
}

/// Parses `name=value` pairs, or one JSON object.
fn parse(texts: &[String]) -> Result<Object, Failure> {
    let hint = "write `name=value`, or one JSON object: `'{\"name\": \"value\"}'`";
    if let [text] = texts
        && text.trim_start().starts_with('{')
    {
        let value = Value::parse(text)
            .map_err(|error| Failure::usage(format!("the parameters are not valid JSON: {error}"), hint))?;
        return value.as_object().cloned().ok_or_else(|| Failure::usage("the parameters are not an object", hint));
    }
    let mut parameters = Object::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::usage(format!("`{text}` has no name and `=` before its value"), hint));
        };
        let value = Value::parse(value).unwrap_or_else(|_| value.into());
        if parameters.insert(name, value).is_some() {
            return Err(Failure::usage(format!("the parameter `{name}` is given twice"), "remove one of them"));
        }
    }
    Ok(parameters)
}
