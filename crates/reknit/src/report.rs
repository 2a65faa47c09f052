//! How a person is told why the command ended early.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use reknit_journal::{AppendError, LeaseError, SendError};
use reknit_runtime::DriveError;
use reknit_salvage::{Misfit, ReadError, ReadOptions};

use crate::excerpt::Excerpt;
use crate::failure::{BadSchema, Failure};
use crate::input::Input;
use crate::show::{one_line, shell_word};

/// How many problems of a value are listed; who has more than this looks at the first ones anyway.
const PROBLEMS: usize = 20;

/// How much of a reading or a problem is shown, in columns.
const QUOTE: usize = 200;

/// The failure, each cause once, the place, and a hint that can be typed.
pub(crate) fn report(failure: &Failure) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        writeln!(f, "error: {failure}")?;
        causes(failure).iter().try_for_each(|cause| writeln!(f, "  caused by: {cause}"))?;
        if let Some(excerpt) = excerpt(failure) {
            write!(f, "\n{excerpt}")?;
        }
        hint(failure).map_or(Ok(()), |hint| writeln!(f, "\nhint: {hint}"))
    })
}

fn causes(failure: &Failure) -> Vec<String> {
    if let Failure::Plan { problems, .. } | Failure::BadPlan { problems, .. } | Failure::Agent { problems, .. } =
        failure
    {
        return problems.clone();
    }
    if let Failure::Read { source, .. } = failure {
        match &**source {
            ReadError::Misfit(misfit) => return problems(misfit),
            ReadError::Ambiguous { first, second } => {
                return vec![
                    format!("one reading is {}", one_line(&first.value.to_string(), QUOTE)),
                    format!("another is {}", one_line(&second.value.to_string(), QUOTE)),
                ];
            }
            _ => {}
        }
    }
    let chain = std::iter::successors(failure.source(), |error| (*error).source());
    chain.map(|error| one_line(&error.to_string(), QUOTE)).collect()
}

fn problems(misfit: &Misfit) -> Vec<String> {
    let line = |problem: &reknit_salvage::Problem| format!("`{}`: {}", problem.path, problem.message);
    let mut lines: Vec<String> =
        misfit.problems.iter().take(PROBLEMS).map(|problem| one_line(&line(problem), QUOTE)).collect();
    if misfit.problems.len() > PROBLEMS {
        lines.push(format!("{} more problems", misfit.problems.len() - PROBLEMS));
    }
    lines
}

fn excerpt(failure: &Failure) -> Option<&Excerpt> {
    match failure {
        Failure::Read { excerpt, .. } | Failure::Schema { excerpt, .. } | Failure::Expression { excerpt, .. } => {
            excerpt.as_ref()
        }
        Failure::Document { excerpt, .. } => Some(excerpt),
        _ => None,
    }
}

fn hint(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Input { input: Input::File(path), source } if source.kind() == ErrorKind::NotFound => {
            Some(format!("see what is there with `ls {}`", shell_word(&folder(path))))
        }
        Failure::TooLong { limit, .. } if *limit == ReadOptions::default().max_bytes => {
            Some("give several texts, one per line, to `reknit repair --jsonl`".to_owned())
        }
        Failure::NotText { input, .. } => {
            let from = input.as_argument();
            Some(format!(
                "if you know its encoding, convert it: `iconv -f LATIN1 -t UTF-8{from} > converted`, and give `converted` in its place"
            ))
        }
        Failure::Read { input, source, .. } => read_hint(input, source),
        Failure::Schema { path, source, .. } if matches!(**source, BadSchema::NotJson(_)) => {
            let path = shell_word(&path.display().to_string());
            Some(format!("see how it could be mended with `reknit repair --explain {path}`"))
        }
        Failure::Document { input, .. } => Some(document_hint(input)),
        Failure::Usage { hint, .. } | Failure::Expression { hint, .. } | Failure::Plan { hint, .. } => hint.clone(),
        Failure::BadPlan { hint, .. } => Some(hint.clone()),
        Failure::Agent { .. } => Some("see what an agent looks like with `reknit agent --help`".to_owned()),
        Failure::Open(error) => Some(error.hint()),
        Failure::Drive(error) => drive_hint(error),
        Failure::Send(error) => send_hint(error),
        Failure::Input { .. }
        | Failure::TooLong { .. }
        | Failure::Schema { .. }
        | Failure::Write(_)
        | Failure::Config(_)
        | Failure::Journal(_)
        | Failure::Start { .. } => None,
    }
}

fn drive_hint(error: &DriveError) -> Option<String> {
    match error {
        DriveError::Lease(LeaseError::Held { run, .. }) => {
            Some(format!("watch it with `reknit runs show {run}`, or end it with `reknit runs cancel {run}`"))
        }
        DriveError::Lease(LeaseError::Ended { run, .. }) => {
            Some(format!("see what became of it with `reknit runs show {run}`"))
        }
        DriveError::Open(error) => Some(error.hint()),
        DriveError::Append(AppendError::Storage(error)) | DriveError::Storage(error) => Some(error.hint()),
        _ => None,
    }
}

fn send_hint(error: &SendError) -> Option<String> {
    match error {
        SendError::Ended { run, .. } => Some(format!("see what became of it with `reknit runs show {run}`")),
        SendError::NoSuchRun { .. } => None,
        SendError::Storage(error) => Some(error.hint()),
    }
}

fn read_hint(input: &Input, error: &ReadError) -> Option<String> {
    let from = input.as_argument();
    match error {
        ReadError::Misfit(_) => Some(format!("see the value as it was read with `reknit repair --explain{from}`")),
        ReadError::Ambiguous { .. } => {
            Some(format!("give a schema that only one of them fits: `reknit repair --schema FILE{from}`"))
        }
        ReadError::Empty { .. } if matches!(input, Input::Stdin) => {
            Some("give it a text: `reknit repair answer.txt`, or `cat answer.txt | reknit repair`".to_owned())
        }
        ReadError::Empty { .. }
        | ReadError::Unreadable { .. }
        | ReadError::TooDeep { .. }
        | ReadError::TooLarge { .. } => None,
    }
}

fn document_hint(input: &Input) -> String {
    format!("see how it could be mended with `reknit repair --explain{}`", input.as_argument())
}

/// The nearest folder above a path that is there.
fn folder(path: &Path) -> String {
    let nearest = path.ancestors().skip(1).find(|folder| folder.is_dir());
    nearest.map_or_else(|| ".".to_owned(), |folder| folder.display().to_string())
}
