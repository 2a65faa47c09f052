//! `reknit runs list`.

use std::io::{self, Write};
use std::process::ExitCode;

use jiff::Timestamp;
use reknit_journal::{Liveness, RunFilter, RunSummary};
use reknit_protocol::{Object, Value};

use crate::cli::JournalArguments;
use crate::failure::Failure;
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
        let line = if json { Value::Object(object(run)).to_string() } else { line(run, now_ms) };
        writeln!(out, "{line}").map_err(Failure::Write)?;
    }
    if runs.is_empty() && !json {
        let _ = writeln!(io::stderr(), "there is no run yet\n\nhint: make one: `reknit demo`");
    }
    Ok(ExitCode::SUCCESS)
}

/// How it ended, or what it is doing.
fn status(run: &RunSummary) -> &str {
    match (&run.status, &run.lease) {
        (Some(status), _) => status,
        (None, Some(held)) if held.holder.liveness() != Liveness::Dead => "running",
        // Who waits for a person gives the run back; who dies does not.
        (None, None) => "waiting",
        (None, Some(_)) => "stopped",
    }
}

fn line(run: &RunSummary, now_ms: i64) -> String {
    format!(
        "{}  {:>9}  {:<16}  {}",
        run.run,
        age(now_ms.saturating_sub(run.created_ms)),
        status(run),
        one_line(&run.title, TITLE)
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

fn object(run: &RunSummary) -> Object {
    Object::from([
        ("run", run.run.as_str().into()),
        ("status", status(run).into()),
        ("request", run.title.as_str().into()),
        ("created_ms", run.created_ms.into()),
        ("updated_ms", run.updated_ms.into()),
        ("events", run.len.into()),
    ])
}
