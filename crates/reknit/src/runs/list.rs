//! `reknit runs list`.

use std::io::{self, Write};
use std::process::ExitCode;

use jiff::Timestamp;
use reknit_journal::{Journal, RunFilter, RunSummary};
use reknit_protocol::{Object, Value};
use reknit_runtime::signals::decided as decided_in;

use super::standing::standing;
use crate::cli::JournalArguments;
use crate::failure::Failure;
use crate::questions::inbox;
use crate::show::one_line;
use crate::work;

/// How much of a request a list shows, in columns.
const TITLE: usize = 60;

pub(super) async fn run(files: &JournalArguments, limit: u32, json: bool) -> Result<ExitCode, Failure> {
    let journal = work::open(&work::config(files.config.as_deref())?, files)?;
    let runs = journal.runs(&RunFilter::newest(limit)).await.map_err(|error| Failure::Journal(Box::new(error)))?;
    let now_ms = Timestamp::now().as_millisecond();
    let mut out = io::stdout().lock();
    for run in &runs {
        let decided = decided(&journal, run).await?;
        let line = if json { Value::Object(object(run, decided)).to_string() } else { line(run, decided, now_ms) };
        writeln!(out, "{line}").map_err(Failure::Write)?;
    }
    if runs.is_empty() && !json {
        let _ = writeln!(io::stderr(), "there is no run yet\n\nhint: make one: `reknit demo`");
    }
    Ok(ExitCode::SUCCESS)
}

/// What was decided about what a run asks, and waits for somebody to drive it.
async fn decided(journal: &Journal, run: &RunSummary) -> Result<Option<String>, Failure> {
    if standing(run) != "waiting" {
        return Ok(None);
    }
    let mut words: Vec<&str> =
        decided_in(&inbox(journal, &run.run).await?).values().map(|decision| decision.as_str()).collect();
    words.sort_unstable();
    words.dedup();
    Ok(Some(words.join(" and ")).filter(|words| !words.is_empty()))
}

fn line(run: &RunSummary, decided: Option<String>, now_ms: i64) -> String {
    let decided = decided.map(|words| format!("   ({words}, goes on with `reknit runs resume {}`)", run.run));
    format!(
        "{}  {:>9}  {:<16}  {}{}",
        run.run,
        age(now_ms.saturating_sub(run.created_ms)),
        standing(run),
        one_line(&run.title, TITLE),
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
        ("status", standing(run).into()),
        ("request", run.title.as_str().into()),
        ("created_ms", run.created_ms.into()),
        ("updated_ms", run.updated_ms.into()),
        ("events", run.len.into()),
    ]);
    object.extend(decided.map(|words| ("decided".to_owned(), words.into())));
    object
}
