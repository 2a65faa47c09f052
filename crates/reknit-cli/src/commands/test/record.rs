//! `reknit test record`: makes a test of a run.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_engine::Overview;
use reknit_protocol::error_chain;
use reknit_recorded_tests::{RecordOptions, RecordRunError, propose_expectations, record_run, recorded_overview};

use super::folder_of;
use crate::commands::runs::{Reader, reader_of};
use crate::output::{Failure, escape_controls, one_line, print_message, print_warning, shell_word};
use crate::setup::{FileArguments, RunArgument, find_run, open_journal};

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct RecordArguments {
    #[command(flatten)]
    run: RunArgument,
    /// The file to write
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// The plan file of the run: the test refers to it instead of containing the plan
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "agent")]
    plan: Option<PathBuf>,
    /// The agent file of the session: the test refers to it instead of containing the agent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    agent: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    journal: FileArguments,
}

const DETAILS: &str = "\
Examples:
  reknit test record last -o tests/refund.yaml
  reknit test record last --plan refund.yaml -o tests/refund.yaml    a changed plan is tested
  reknit test record last --agent clerk.md -o tests/clerk.yaml

The test is played once before it is written. What its run did is written as `expect`: edit it, and remove what does not
matter. Values with the name of a secret are replaced by `[redacted]`, as `reknit runs export` does.

Exit status: 0 the test is written and does what the run did, 1 it is written but differs from the run, 2 nothing is written.";

pub(crate) async fn run(arguments: &RecordArguments) -> Result<ExitCode, Failure> {
    let path = &arguments.output;
    if path.exists() && !arguments.force {
        let message = format!("there is already a file `{}`", path.display());
        return Err(Failure::usage(message, "name another one, or replace it with `--force`"));
    }
    let journal = open_journal(&arguments.journal)?;
    let run = find_run(&journal, &arguments.run.run).await?;
    let folder = folder_of(path);
    let options = RecordOptions {
        plan: arguments.plan.as_deref().map(|file| relative_to(file, folder)).transpose()?,
        agent: arguments.agent.as_deref().map(|file| relative_to(file, folder)).transpose()?,
        with_model_texts: reader_of(&journal) == Reader::Owner,
    };
    let mut file = record_run(&journal, &run, &options).await.map_err(failure)?;
    let overview = recorded_overview(&journal, &run).await.map_err(failure)?;
    file.about = Some(about(&overview));
    let cannot_write = Failure::cannot_write(path);
    // The paths in the test begin in its folder.
    std::fs::create_dir_all(folder_or_here(folder)).map_err(&cannot_write)?;
    let differences = propose_expectations(&mut file, folder, &overview)
        .map_err(|error| Failure::Plan { problems: error.0, hint: None })?;
    std::fs::write(path, file.write()).map_err(cannot_write)?;
    let name = path.display().to_string();
    print_message(&format!(
        "wrote {name}: {} recorded calls, {} answers of models\n",
        file.calls.len(),
        file.models.len()
    ));
    if differences.is_empty() {
        print_message(&format!("\nhint: edit what it expects, and run it with `reknit test {}`\n", shell_word(&name)));
        return Ok(ExitCode::SUCCESS);
    }
    print_warning("the test does not do what the run did; its expectations are those of the test:");
    for difference in differences {
        print_message(&escape_controls(&format!("  {difference}\n")));
    }
    Ok(ExitCode::FAILURE)
}

fn about(overview: &Overview) -> String {
    let (run, title) = match overview {
        Overview::Run(run) => (&run.run, run.request.as_str()),
        Overview::Session(session) => (&session.run, session.input.as_str()),
        Overview::Bare(bare) => (&bare.run, bare.title.as_str()),
    };
    format!("{} (recorded from run {run})", one_line(title, 100))
}

fn failure(error: RecordRunError) -> Failure {
    match error {
        RecordRunError::Read(error) => error.into(),
        RecordRunError::NotEnded(run) => {
            let hint = format!("let it end with `reknit runs resume {run}`");
            Failure::usage(format!("run `{run}` has not ended"), hint)
        }
        RecordRunError::HiddenTexts(_) => {
            Failure::usage(error_chain(&error), "ask the owner of the journal to record it")
        }
        other => Failure::message(error_chain(&other)),
    }
}

/// A file that exists, as seen from a folder that may not exist yet.
fn relative_to(file: &Path, folder: &Path) -> Result<String, Failure> {
    let absolute = |path: &Path| std::path::absolute(path).map(|path| without_dots(&path));
    let found = absolute(file).and_then(|file| Ok((file, absolute(folder_or_here(folder))?)));
    let (file_path, folder) = found.map_err(|error| Failure::message(error.to_string()))?;
    if !file_path.is_file() {
        let hint = "name the file that the run was started with";
        return Err(Failure::usage(format!("there is no file `{}`", file.display()), hint));
    }
    let shared = file_path.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(file_path.components().skip(shared)).collect();
    Ok(path.display().to_string())
}

fn folder_or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = clean.pop(),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}
