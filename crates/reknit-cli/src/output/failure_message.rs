//! Renders an error for people.

use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

use reknit_journal::{AppendError, LeaseError};
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::{DriveError, Refusal};
use reknit_salvage::{FitError, ReadOptions, ReadTextError};

use crate::output::{BadSchema, Excerpt, Failure, Input, one_line, shell_word};

const MAX_PROBLEMS: usize = 20;

const CAUSE_COLUMNS: usize = 200;

/// What an error says besides its first line.
enum Details {
    Causes(Vec<String>),
    /// They are independent of each other.
    Problems(Vec<String>),
}

/// The error, its problems or each cause once, an excerpt with the position, and a hint with a command to type.
pub(crate) fn failure_message(failure: &Failure) -> String {
    let (mark, lines) = match details(failure) {
        Details::Causes(causes) => ("caused by:", causes),
        Details::Problems(problems) => ("-", problems),
    };
    let lines: Vec<String> = lines.iter().map(|line| format!("  {mark} {line}\n")).collect();
    let excerpt = excerpt(failure).map(|excerpt| format!("\n{excerpt}")).unwrap_or_default();
    let hint = failure_hint(failure).map(|hint| format!("\nhint: {hint}\n")).unwrap_or_default();
    format!("error: {failure}\n{}{excerpt}{hint}", lines.concat())
}

pub(crate) fn failure_json(failure: &Failure) -> Value {
    let mut error = Object::from([("message", failure.to_string().as_str().into())]);
    let (name, lines) = match details(failure) {
        Details::Causes(causes) => ("causes", causes),
        Details::Problems(problems) => ("problems", problems),
    };
    if !lines.is_empty() {
        error.insert(name, lines.iter().map(|line| Value::from(line.as_str())).collect::<Vec<_>>());
    }
    if let Failure::Refused(refusal) = failure {
        error.insert("code", refusal.code().as_str());
    }
    error.extend(failure_hint(failure).map(|hint| ("hint".to_owned(), hint.as_str().into())));
    error.insert("exit_status", u64::from(failure.exit_status()));
    Value::Object(Object::from([("error", Value::Object(error))]))
}

/// The problems or the causes of a failure.
pub(crate) fn failure_causes(failure: &Failure) -> Vec<String> {
    match details(failure) {
        Details::Causes(lines) | Details::Problems(lines) => lines,
    }
}

fn details(failure: &Failure) -> Details {
    if let Failure::Plan { problems, .. } | Failure::BadPlan { problems, .. } | Failure::Agent { problems, .. } =
        failure
    {
        return Details::Problems(problems.iter().map(|problem| one_line(problem, usize::MAX)).collect());
    }
    if let Failure::Read { source, .. } = failure {
        match &**source {
            ReadTextError::DoesNotFit(misfit) => return Details::Problems(problems(misfit)),
            ReadTextError::Ambiguous { first, second } => {
                return Details::Problems(vec![
                    format!("one reading is {}", one_line(&first.value.to_string(), CAUSE_COLUMNS)),
                    format!("another reading is {}", one_line(&second.value.to_string(), CAUSE_COLUMNS)),
                ]);
            }
            _ => {}
        }
    }
    let chain = std::iter::successors(failure.source(), |error| (*error).source());
    Details::Causes(chain.map(|error| one_line(&error.to_string(), CAUSE_COLUMNS)).collect())
}

fn problems(misfit: &FitError) -> Vec<String> {
    let line = |problem: &reknit_salvage::FitProblem| format!("`{}`: {}", problem.path, problem.message);
    let mut lines: Vec<String> =
        misfit.problems.iter().take(MAX_PROBLEMS).map(|problem| one_line(&line(problem), CAUSE_COLUMNS)).collect();
    if misfit.problems.len() > MAX_PROBLEMS {
        lines.push(format!("{} more problems", misfit.problems.len() - MAX_PROBLEMS));
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

/// What to type, if the failure knows it.
pub(crate) fn failure_hint(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Input { input: Input::File(path), source } if source.kind() == ErrorKind::NotFound => {
            Some(format!("list the files there with `ls {}`", shell_word(&existing_folder(path))))
        }
        Failure::TooLong { limit, .. } if *limit == ReadOptions::default().max_bytes => {
            Some("split it into several texts and pass one per line to `reknit repair --jsonl`".to_owned())
        }
        Failure::NotUtf8 { input, .. } => {
            let from = input.as_argument();
            Some(format!(
                "convert it from its encoding, for example `iconv -f LATIN1 -t UTF-8{from} > converted`, and read `converted` instead"
            ))
        }
        Failure::Read { input, source, .. } => read_hint(input, source),
        Failure::NoJson { input } => {
            Some(format!("read it as a text with `reknit repair --any{}`, or name a schema", input.as_argument()))
        }
        Failure::Schema { path, source, .. } if matches!(**source, BadSchema::NotJson(_)) => {
            let path = shell_word(&path.display().to_string());
            Some(format!("see how to repair it with `reknit repair --explain {path}`"))
        }
        Failure::Document { input, .. } => {
            Some(format!("see how to repair it with `reknit repair --explain{}`", input.as_argument()))
        }
        Failure::Usage { hint, .. } | Failure::Expression { hint, .. } | Failure::Plan { hint, .. } => hint.clone(),
        Failure::BadPlan { hint, .. } => Some(hint.clone()),
        Failure::Agent { .. } => Some("see an example of an agent file with `reknit agent --help`".to_owned()),
        Failure::Open(error) => Some(error.hint()),
        Failure::Drive(error) => drive_hint(error),
        Failure::Parked { run, .. } => Some(parked_hint(run)),
        Failure::Refused(refusal) => refusal_hint(refusal),
        _ => None,
    }
}

fn drive_hint(error: &DriveError) -> Option<String> {
    match error {
        DriveError::Lease(LeaseError::Held { run, .. }) => {
            Some(format!("follow it with `reknit runs show {run}`, or cancel it with `reknit runs cancel {run}`"))
        }
        DriveError::Lease(LeaseError::Ended { run, .. }) => {
            Some(format!("see its result with `reknit runs show {run}`"))
        }
        DriveError::Lease(LeaseError::NotEnded(run)) => Some(format!("continue it with `reknit runs resume {run}`")),
        DriveError::MissingRequirements { .. } => Some(
            "start or configure what is missing (`--tool NAME=URL`, `--model-url URL`, reknit.toml) and go on again; the run is saved"
                .to_owned(),
        ),
        DriveError::NotRetriable { run, .. } | DriveError::NotASession(run) => {
            Some(format!("see what it did with `reknit runs show {run}`"))
        }
        DriveError::OtherRequest { run, .. } | DriveError::OtherOwner(run) => {
            Some(format!("choose another `--run-id`; see what was done under this one with `reknit runs show {run}`"))
        }
        DriveError::Open(error) => Some(error.hint()),
        DriveError::Append(AppendError::Storage(error))
        | DriveError::NotStored { source: AppendError::Storage(error), .. }
        | DriveError::Storage(error) => Some(error.hint()),
        _ => None,
    }
}

fn refusal_hint(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::NoSuchRun(_) => "list your runs with `reknit runs list`".to_owned(),
        Refusal::Ended { run, .. } => format!("see its result with `reknit runs show {run}`"),
        Refusal::Parked(run) => parked_hint(run),
        Refusal::NotAsked { run, .. } | Refusal::QuestionChanged { run, .. } => {
            format!("see what it asks with `reknit runs show {run}`")
        }
        Refusal::Expired { run, .. } => format!("let the run go on with `reknit runs resume {run}`"),
        Refusal::AlreadyDecided { run, .. } => format!(
            "the first decision counts: continue with `reknit runs resume {run}`, or cancel the run with `reknit runs cancel {run}`"
        ),
        Refusal::WrongDecision(_) => "decide with `reknit runs approve` or `deny`; what became of a call that may have taken effect, with `reknit runs \
             settle` and `--happened` or `--did-not-happen`"
            .to_owned(),
        Refusal::InvalidEdit(_) => "change the parameters and approve again; nothing was sent".to_owned(),
        Refusal::UnreadableAttachment(_) => "configure a model that can, or, if this one can, list what it reads: `inputs = \
             [\"image\"]` in its `[[models]]`"
            .to_owned(),
        Refusal::Failed(error) => return drive_hint(error),
        _ => return None,
    })
}

fn read_hint(input: &Input, error: &ReadTextError) -> Option<String> {
    let from = input.as_argument();
    match error {
        ReadTextError::DoesNotFit(_) => {
            Some(format!("see the value without the schema with `reknit repair --explain{from}`"))
        }
        ReadTextError::Ambiguous { .. } => {
            Some(format!("add a schema that only one reading fits: `reknit repair --schema FILE{from}`"))
        }
        ReadTextError::Empty { .. } if matches!(input, Input::Stdin) => {
            Some("name a file, `reknit repair answer.txt`, or pipe one in, `cat answer.txt | reknit repair`".to_owned())
        }
        _ => None,
    }
}

/// The nearest parent folder that exists.
fn existing_folder(path: &Path) -> String {
    let nearest = path.ancestors().skip(1).find(|folder| folder.is_dir());
    nearest.map_or_else(|| ".".to_owned(), |folder| folder.display().to_string())
}

pub(crate) fn parked_hint(run: &RunId) -> String {
    format!(
        "see what is known with `reknit runs show {run}`; continue it with the build that started it, or here with `reknit runs \
         resume {run} --accept-changes`; or end it with `reknit runs close {run} --reason TEXT`"
    )
}
