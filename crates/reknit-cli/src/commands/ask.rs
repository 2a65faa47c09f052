//! `reknit ask`: a model plans a request, and the plan is run, printed or written to a file.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueHint};
use reknit_engine::{RequestDigest, Status};
use reknit_protocol::Object;
use reknit_runtime::{RunStart, operations};

use super::EXIT_STATUS;
use crate::drive::{continue_started, drive, drive_to_answer};
use crate::output::{Failure, ResultFormat, print_answer, print_message, shell_word};
use crate::setup::{
    AttachArguments, DriveArguments, MODEL_HINT, MetadataArguments, RunIdArgument, Setup, SetupArguments,
    read_attachments,
};

const EXAMPLES: &str = "\
Examples:
  reknit ask \"How much is 100 EUR in won?\"
  reknit ask --attach invoice.pdf \"Pay this invoice.\"
  reknit ask --tool weather=http://127.0.0.1:8085 --model-url http://127.0.0.1:8080/v1 \"Weather in Seoul?\"
  reknit ask --plan-only -o plan.yaml \"How much is 100 EUR in won?\" && reknit run plan.yaml
";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES.to_owned() + EXIT_STATUS)]
pub(crate) struct AskArguments {
    /// The request, in plain language
    request: String,
    #[command(flatten)]
    attach: AttachArguments,
    /// Only make the plan, in the form people write; no tool is called
    #[arg(long, conflicts_with = "run_id")]
    plan_only: bool,
    /// The file that the plan is written to, which must not exist; standard output if missing
    #[arg(short = 'o', long = "output", value_name = "FILE", requires = "plan_only", value_hint = ValueHint::FilePath)]
    plan_file: Option<PathBuf>,
    #[command(flatten)]
    id: RunIdArgument,
    #[command(flatten)]
    metadata: MetadataArguments,
    #[command(flatten)]
    setup: SetupArguments,
    #[command(flatten)]
    drive: DriveArguments,
}

pub(crate) async fn run(arguments: &AskArguments) -> Result<ExitCode, Failure> {
    let AskArguments { request, id, drive: drive_arguments, .. } = arguments;
    if let Some(path) = arguments.plan_file.as_deref().filter(|path| path.exists()) {
        return Err(exists(path));
    }
    let metadata = arguments.metadata.parse()?;
    let attachments = read_attachments(&arguments.attach)?;
    let digest = RequestDigest::of_run(request, None, &Object::new(), &metadata).with_attachments(&attachments);
    if let Some(code) = continue_started(id, &digest, &arguments.setup, drive_arguments).await? {
        return Ok(code);
    }
    let setup = Box::pin(Setup::new(&arguments.setup, drive_arguments)).await?;
    setup.require_tools()?;
    if setup.reknit.targets.is_empty() {
        return Err(Failure::usage("no model is configured to plan the request", MODEL_HINT));
    }
    let mut started = setup.reknit.started(request, None);
    if arguments.plan_only {
        Arc::make_mut(&mut started.policy).planning.only = true;
    }
    let started = operations::start(&setup.reknit, started, id.options(metadata, attachments))?;
    match &arguments.plan_file {
        Some(path) => write_plan(&setup, started, path, drive_arguments).await,
        None => drive(&setup, started, drive_arguments).await,
    }
}

async fn write_plan(
    setup: &Setup,
    started: RunStart,
    path: &Path,
    arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    let (run, answer) = drive_to_answer(setup, started, arguments).await?;
    if answer.status != Status::Complete {
        return print_answer(&run, &answer, arguments.format(), None);
    }
    // A file that appeared in the meantime is not overwritten either.
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    match written.and_then(|mut file| file.write_all(format!("{}\n", answer.text).as_bytes())) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(path)),
        Err(error) => return Err(Failure::Write(error)),
    }
    if arguments.format() != ResultFormat::Text {
        return print_answer(&run, &answer, arguments.format(), None);
    }
    let word = shell_word(&path.display().to_string());
    print_message(&format!("wrote the plan to `{}`\n\nhint: run it with `reknit run {word}`\n", path.display()));
    Ok(ExitCode::SUCCESS)
}

fn exists(path: &Path) -> Failure {
    Failure::usage(
        format!("`{}` exists, and is not overwritten", path.display()),
        "name another file, or leave out `-o` to print the plan",
    )
}
