//! `reknit runs list`.

use std::process::ExitCode;

use jiff::Timestamp;
use reknit_engine::Decision;
use reknit_journal::{Journal, RunFilter, RunSummary};
use reknit_protocol::{Object, Value};
use reknit_runtime::signals::decisions as decided_in;

use super::status::status_word;
use crate::approvals::inbox;
use crate::cli::FileArguments;
use crate::failure::Failure;
use crate::print::{print_data, print_message};
use crate::setup::open_journal;
use crate::terminal_text::one_line;

/// The width to which a request is cut, in columns.
const TITLE_COLUMNS: usize = 60;

pub(super) async fn run(files: &FileArguments, limit: u32, json: bool) -> Result<ExitCode, Failure> {
    let journal = open_journal(files)?;
    let runs = journal.runs(&RunFilter::newest(limit)).await.map_err(Failure::journal)?;
    let now_ms = Timestamp::now().as_millisecond();
    for run in &runs {
        let decided = decided(&journal, run).await?;
        let line = if json { Value::Object(object(run, decided)).to_string() } else { line(run, decided, now_ms) };
        print_data(&(line + "\n"))?;
    }
    let all = journal.run_count().await.map_err(Failure::journal)?;
    if u64::try_from(runs.len()).is_ok_and(|shown| shown < all) {
        print_message(&format!("\nnote: {} of {all} runs; `--all` lists all of them\n", runs.len()));
    }
    if runs.is_empty() && !json {
        print_message("the journal has no runs\n\nhint: start one with `reknit demo`\n");
    }
    Ok(ExitCode::SUCCESS)
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
