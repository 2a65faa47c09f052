//! `reknit runs list`.

use std::process::ExitCode;

use jiff::Timestamp;
use reknit_engine::Decision;
use reknit_journal::{Journal, RunFilter, RunSummary};
use reknit_protocol::{Object, Value};
use reknit_runtime::DriveError;
use reknit_runtime::signals::decisions as decided_in;

use super::status::status_word;
use super::used_tools::used_tools;
use crate::approvals::inbox;
use crate::cli::ListArguments;
use crate::failure::Failure;
use crate::print::{print_data, print_message};
use crate::saved_run::stored_overview;
use crate::setup::open_journal;
use crate::terminal_text::one_line;

/// The width to which a request is cut, in columns.
const TITLE_COLUMNS: usize = 60;

pub(super) async fn run(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    let journal = open_journal(&arguments.files)?;
    let now_ms = Timestamp::now().as_millisecond();
    let limit = if arguments.all { u32::MAX } else { arguments.limit };
    let (runs, is_cut) = find(&journal, arguments, limit as usize, now_ms).await?;
    if !arguments.json && !runs.is_empty() {
        print_data(&format!("{}\n", header(&runs)))?;
    }
    for run in &runs {
        let decided = decided(&journal, run).await?;
        let json = || Value::Object(object(run, decided.clone())).to_string();
        let line = if arguments.json { json() } else { line(run, decided.clone(), now_ms) };
        print_data(&(line + "\n"))?;
    }
    let all = journal.run_count().await.map_err(Failure::journal)?;
    if is_cut {
        let of = if is_filtered(arguments) { "the matching".to_owned() } else { all.to_string() };
        print_message(&format!("\nnote: {} of {of} runs; `--all` lists all of them\n", runs.len()));
    }
    if runs.is_empty() && !arguments.json {
        print_message(match all {
            0 => "the journal has no runs\n\nhint: start one with `reknit demo`\n",
            _ => "no run matches\n\nhint: list all of them with `reknit runs list --all`\n",
        });
    }
    Ok(ExitCode::SUCCESS)
}

fn is_filtered(arguments: &ListArguments) -> bool {
    let ListArguments { status, since, tool, search, .. } = arguments;
    !status.is_empty() || since.is_some() || tool.is_some() || search.is_some()
}

/// The runs that match, and whether there are more.
async fn find(
    journal: &Journal,
    arguments: &ListArguments,
    limit: usize,
    now_ms: i64,
) -> Result<(Vec<RunSummary>, bool), Failure> {
    // The journal does not know which tools a run used, nor whether its process is alive.
    let is_checked_here = arguments.tool.is_some() || !arguments.status.is_empty();
    let more = u32::try_from(limit).ok().and_then(|limit| limit.checked_add(1)).unwrap_or(u32::MAX);
    let filter = RunFilter {
        since_ms: arguments.since.map(|since| now_ms.saturating_sub_unsigned(since)),
        title: arguments.search.clone(),
        ..RunFilter::newest(if is_checked_here { u32::MAX } else { more })
    };
    let mut found = Vec::new();
    for run in journal.runs(&filter).await.map_err(Failure::journal)? {
        let has_status = arguments.status.is_empty() || arguments.status.iter().any(|word| word == status_word(&run));
        let uses_tool = match &arguments.tool {
            Some(tool) if has_status => uses(journal, &run, tool).await?,
            _ => true,
        };
        if !has_status || !uses_tool {
            continue;
        }
        if found.len() == limit {
            return Ok((found, true));
        }
        found.push(run);
    }
    Ok((found, false))
}

/// Whether a run has called a tool, or is about to.
async fn uses(journal: &Journal, run: &RunSummary, tool: &str) -> Result<bool, Failure> {
    let overview = match stored_overview(journal, &run.run).await? {
        Some(overview) => overview,
        None => match reknit_runtime::load_run(journal, &run.run).await {
            Ok(saved) => saved.overview().map_err(Failure::journal)?,
            Err(DriveError::Restore(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        },
    };
    Ok(used_tools(&overview).iter().any(|used| {
        let rest = used.strip_prefix(tool);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }))
}

/// The decisions about the approvals of a waiting run that it has not read yet.
async fn decided(journal: &Journal, run: &RunSummary) -> Result<Option<String>, Failure> {
    if status_word(run) != "waiting" {
        return Ok(None);
    }
    let mut words: Vec<&str> = decided_in(&inbox(journal, &run.run).await?).values().map(Decision::as_str).collect();
    words.sort_unstable();
    words.dedup();
    Ok(Some(words.join(" and ")).filter(|words| !words.is_empty()))
}

fn line(run: &RunSummary, decided: Option<String>, now_ms: i64) -> String {
    let decided = decided.map(|words| format!("   ({words}; continue with `reknit runs resume {}`)", run.run));
    format!(
        "{}  {:>9}  {:<16}  {}{}",
        run.run,
        age(now_ms.saturating_sub(run.created_ms)),
        status_word(run),
        one_line(&run.title, TITLE_COLUMNS),
        decided.unwrap_or_default()
    )
}

fn header(runs: &[RunSummary]) -> String {
    let columns = runs.iter().map(|run| run.run.as_str().len()).max().unwrap_or_default();
    format!("{:<columns$}  {:>9}  {:<16}  REQUEST", "RUN", "STARTED", "STATUS")
}

fn age(ms: i64) -> String {
    match ms / 1_000 {
        seconds @ ..=59 => format!("{} s ago", seconds.max(0)),
        seconds @ 60..=3_599 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}

fn object(run: &RunSummary, decided: Option<String>) -> Object {
    let mut object = Object::from([
        ("run", run.run.as_str().into()),
        ("status", status_word(run).into()),
        ("request", run.title.as_str().into()),
        ("created_ms", run.created_ms.into()),
        ("updated_ms", run.updated_ms.into()),
        ("events", run.len.into()),
    ]);
    object.extend(decided.map(|words| ("decided".to_owned(), words.into())));
    object
}
