//! `reknit ask` and `reknit run`: a run begins.

use std::path::Path;
use std::process::ExitCode;

use reknit_engine::Started;
use reknit_plan::{Author, PlanProblem, check, correct_names, notes, settle_inputs};
use reknit_protocol::{Object, Plan, Value};

use crate::cli::{DriveArguments, WorkArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::plan_file;
use crate::work::Work;

/// Plans a request with a model and runs it.
pub(crate) async fn ask(
    request: &str,
    arguments: &WorkArguments,
    drive_as: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let work = Work::new(arguments, drive_as).await?;
    refuse_nothing(&work)?;
    if work.reknit.targets.is_empty() {
        return Err(Failure::Usage {
            what: "there is no model to make a plan".to_owned(),
            hint: Some("name one: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml".to_owned()),
        });
    }
    let started = work.reknit.started(request, None);
    drive(&work, started, drive_as).await
}

/// Runs a plan that is written already.
pub(crate) async fn run(
    plan: &Path,
    inputs: &[String],
    arguments: &WorkArguments,
    drive_as: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let plan = plan_file::load(&Input::new(Some(plan)))?.plan;
    let inputs = given(&plan, inputs)?;
    let work = Work::new(arguments, drive_as).await?;
    refuse_nothing(&work)?;
    // The run puts names right by itself, and keeps a record of it; this only tells beforehand whether it can begin.
    let mut corrected = plan.clone();
    correct_names(&mut corrected, &work.reknit.catalogue, Author::Person);
    let checked = check(&corrected, &work.reknit.catalogue, Author::Person).map(|_| ());
    let settled = settle_inputs(&plan, &inputs).map(|_| ());
    let problems: Vec<PlanProblem> = [checked, settled].into_iter().filter_map(Result::err).flatten().collect();
    if !problems.is_empty() {
        return Err(Failure::Plan { problems: plan_file::lines(&problems), hint: plan_file::input_hint(&problems) });
    }
    if work.reknit.targets.is_empty() {
        refuse_what_needs_a_model(&corrected, &work)?;
    }
    let request = match plan.original_request.as_str() {
        "" => plan.plan_id.to_string(),
        request => request.to_owned(),
    };
    let started = Started { inputs, ..work.reknit.started(&request, Some(plan)) };
    drive(&work, started, drive_as).await
}

/// What was typed for the inputs of a plan. A text is fitted to the type of its input; without one it may be JSON.
fn given(plan: &Plan, typed: &[String]) -> Result<Object, Failure> {
    let mut inputs = Object::new();
    for text in typed {
        let usage = |what: String, hint: &str| Failure::Usage { what, hint: Some(hint.to_owned()) };
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("`--input {text}` has no `=`"), "write `--input shares=100`"))?;
        let declared = plan.inputs.iter().find(|(input, _)| input == name).map(|(_, input)| input.schema());
        let value = match declared.filter(Object::is_empty).and_then(|_| Value::parse(value).ok()) {
            Some(json) => json,
            None => value.into(),
        };
        if inputs.insert(name, value).is_some() {
            return Err(usage(format!("the input `{name}` is given twice"), "leave one of them out"));
        }
    }
    Ok(inputs)
}

/// A value that only a model can find fails its step, and what ran before it cannot be undone.
fn refuse_what_needs_a_model(plan: &Plan, work: &Work) -> Result<(), Failure> {
    let notes = notes(plan, &work.reknit.catalogue, Author::Person);
    let problems: Vec<String> =
        notes.iter().filter(|note| note.needs_model).map(|note| note.problem.to_string()).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let hint = "write it into the plan, or name a model: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml";
    Err(Failure::Plan { problems, hint: Some(hint.to_owned()) })
}

fn refuse_nothing(work: &Work) -> Result<(), Failure> {
    if !work.reknit.catalogue.tools.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage {
        what: "there is no tool to call".to_owned(),
        hint: Some(
            "name one: `--tool NAME=URL`, or `[[tools]]` in reknit.toml; `reknit demo --serve` starts four".to_owned(),
        ),
    })
}
