//! `reknit ask --plan-only`: a model plans, and nothing is run.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use reknit_engine::Status;

use crate::attach::{read_attachments, require_reader};
use crate::cli::{AttachArguments, DriveArguments, MetadataArguments, ResultFormat, RunIdArgument, SetupArguments};
use crate::drive::{drive, drive_to_answer};
use crate::failure::Failure;
use crate::print::print_message;
use crate::print_answer::print_answer;
use crate::start::setup_to_plan;
use crate::terminal_text::shell_word;

/// Lets a model plan a request, and prints the plan or writes it to a file.
pub(crate) async fn run(
    (request, attach): (&str, &AttachArguments),
    file: Option<&Path>,
    (id, metadata): (&RunIdArgument, &MetadataArguments),
    arguments: &SetupArguments,
    drive_arguments: &DriveArguments,
) -> Result<ExitCode, Failure> {
    if let Some(path) = file.filter(|path| path.exists()) {
        return Err(exists(path));
    }
    let attachments = read_attachments(attach)?;
    let setup = setup_to_plan(arguments, drive_arguments).await?;
    require_reader(&attachments, &setup.reknit.targets, &setup.models)?;
    let started = setup.reknit.started(request, None).with_metadata(metadata.parse()?);
    let mut started = started.with_attachments(attachments);
    Arc::make_mut(&mut started.policy).planning.only = true;
    let started = id.of_run(started);
    let Some(path) = file else { return drive(&setup, started, drive_arguments).await };
    let (run, answer) = drive_to_answer(&setup, started, drive_arguments).await?;
    if answer.status != Status::Complete {
        return print_answer(&run, &answer, drive_arguments.format(), None);
    }
    // A file that appeared in the meantime is not overwritten either.
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    match written.and_then(|mut file| file.write_all(format!("{}\n", answer.text).as_bytes())) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(path)),
        Err(error) => return Err(Failure::Write(error)),
    }
    if drive_arguments.format() != ResultFormat::Text {
        return print_answer(&run, &answer, drive_arguments.format(), None);
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
