//! `reknit ask` and `reknit run`: a run begins.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use reknit_engine::{MACHINE_VERSION, Started, check, read_plan};
use reknit_protocol::{Plan, RunId};
use uuid::Uuid;

use crate::cli::{DriveArguments, WorkArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::work::Work;

/// Plans a request with a model and runs it.
pub(crate) async fn ask(
    request: String,
    arguments: &WorkArguments,
    drive_as: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let work = Work::new(arguments, drive_as).await?;
    refuse_nothing(&work)?;
    if work.targets.is_empty() {
        return Err(Failure::Usage {
            what: "there is no model to make a plan".to_owned(),
            hint: Some("name one: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml".to_owned()),
        });
    }
    let started = started(&work, request, None);
    drive(&work, started, drive_as).await
}

/// Runs a plan that is written already.
pub(crate) async fn run(
    plan: &Path,
    arguments: &WorkArguments,
    drive_as: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let input = Input::new(Some(plan));
    let text = input.read_text()?;
    let plan = match read_plan(&text, "") {
        Ok((plan, _)) => plan,
        Err(error) => {
            let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
            return Err(Failure::Plan { problems: causes.map(ToString::to_string).collect() });
        }
    };
    let work = Work::new(arguments, drive_as).await?;
    refuse_nothing(&work)?;
    if let Err(problems) = check(&plan, &work.catalogue) {
        return Err(Failure::Plan { problems: problems.iter().map(ToString::to_string).collect() });
    }
    let request = match plan.original_request.as_str() {
        "" => plan.plan_id.to_string(),
        request => request.to_owned(),
    };
    let started = started(&work, request, Some(plan));
    drive(&work, started, drive_as).await
}

fn refuse_nothing(work: &Work) -> Result<(), Failure> {
    if !work.catalogue.tools.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage {
        what: "there is no tool to call".to_owned(),
        hint: Some(
            "name one: `--tool NAME=URL`, or `[[tools]]` in reknit.toml; `reknit demo --serve` starts four".to_owned(),
        ),
    })
}

/// The first event of a run. Its id is the only thing in it that is left to chance.
pub(crate) fn started(work: &Work, request: String, plan: Option<Plan>) -> Started {
    let id = Uuid::now_v7();
    let (high, low) = id.as_u64_pair();
    Started {
        run: RunId::new(id.to_string()),
        request,
        plan,
        catalogue: Arc::clone(&work.catalogue),
        targets: work.targets.clone(),
        policy: Arc::new(work.policy.clone()),
        templates: Arc::clone(&work.templates),
        mappings: Vec::new(),
        seed: high ^ low,
        machine_version: MACHINE_VERSION,
    }
}
