//! Imports a run that was exported as JSON lines.

use reknit_journal::{Append, CreateError, DueEffect, Holder, Journal, LeaseTerm, NewEvent, NewRun};
use reknit_protocol::{InvalidRunId, RunId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::export::ExportLine;

/// The digest of the request of an imported run. No request has it, so `--run-id` never continues an imported run.
const IMPORTED: &str = "imported";
/// Its owner: nobody here has started it. Its id may follow from a call or a key, and must not make its result that of the call.
const OWNER: &str = "(imported)";

/// Why a run cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("line {line} is not a line that `runs export` writes")]
    NotExported {
        /// The line, from 1.
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("line {line} does not follow from the lines before it: {problem}")]
    OutOfOrder {
        /// The line, from 1.
        line: usize,
        problem: &'static str,
    },
    #[error("line {line} has an id that no run has")]
    InvalidId {
        /// The line, from 1.
        line: usize,
        #[source]
        source: InvalidRunId,
    },
    /// The run has not ended. Where it comes from, it may go on, and its calls must not be made twice.
    #[error("run `{run}` has not ended, so only the journal that it comes from can continue it")]
    NotEnded { run: RunId },
    #[error("run `{run}` cannot be created")]
    Create {
        run: RunId,
        #[source]
        source: CreateError,
    },
}

/// A run, as its lines say.
struct Exported {
    run: RunId,
    title: String,
    status: String,
    events: Vec<NewEvent>,
    ending: Option<String>,
}

/// Imports every run of these lines, in order, and returns their ids. Runs that were imported before an error stay.
pub async fn import(journal: &Journal, text: &str, term: LeaseTerm) -> Result<Vec<RunId>, ImportError> {
    let mut imported = Vec::new();
    for exported in read(text)? {
        let run = exported.run.clone();
        store(journal, exported, term).await?;
        imported.push(run);
    }
    Ok(imported)
}

fn read(text: &str) -> Result<Vec<Exported>, ImportError> {
    let mut runs: Vec<Exported> = Vec::new();
    for (index, text) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line = index + 1;
        let read: ExportLine =
            serde_json::from_str(text).map_err(|source| ImportError::NotExported { line, source })?;
        let out_of_order = |problem| ImportError::OutOfOrder { line, problem };
        if let ExportLine::Run { run, title, status, .. } = read {
            let Some(status) = status else { return Err(ImportError::NotEnded { run }) };
            RunId::parse(run.as_str()).map_err(|source| ImportError::InvalidId { line, source })?;
            runs.push(Exported { run, title, status, events: Vec::new(), ending: None });
            continue;
        }
        let run = runs.last_mut().ok_or_else(|| out_of_order("the first line must be that of a run"))?;
        match read {
            ExportLine::Event { seq, due, body } => {
                if seq != run.events.len() as u64 {
                    return Err(out_of_order("an event before it is missing"));
                }
                let event = event(&body).map_err(|source| ImportError::NotExported { line, source })?;
                run.events.push(event.with_due(due.into_iter().map(|(effect, digest)| DueEffect::new(effect, digest))));
            }
            ExportLine::Ending(body) => run.ending = Some(body.get().to_owned()),
            // An ended run makes no more calls, and no machine continues it.
            ExportLine::Claims(_) | ExportLine::Snapshot { .. } => {}
            ExportLine::Run { .. } => return Err(out_of_order("two runs on one line")),
        }
    }
    Ok(runs)
}

/// What the journal wants to know about an event.
#[derive(Deserialize)]
struct EventHead {
    at_ms: i64,
    kind: serde_json::Value,
}

fn event(body: &RawValue) -> Result<NewEvent, serde_json::Error> {
    let EventHead { at_ms, kind } = serde_json::from_str(body.get())?;
    let name = match &kind {
        serde_json::Value::Object(kind) => kind.keys().next().cloned(),
        kind => kind.as_str().map(str::to_owned),
    };
    Ok(NewEvent::new(at_ms, name.unwrap_or_default(), body.get()))
}

async fn store(journal: &Journal, exported: Exported, term: LeaseTerm) -> Result<(), ImportError> {
    let Exported { run, title, status, events, ending } = exported;
    let mut events = events.into_iter();
    let Some(first) = events.next() else {
        return Err(ImportError::OutOfOrder { line: 1, problem: "the run has no events" });
    };
    let ended_ms = first.at_ms;
    let mut append = Append::at(1);
    append.events = events.collect();
    let ended_ms = append.events.last().map_or(ended_ms, |event| event.at_ms);
    append = append.ending(status, ended_ms);
    if let Some(ending) = ending {
        append = append.result(ending);
    }
    // It is created with its ending, so that no process continues it.
    let new = NewRun {
        rest: Some(append),
        owner: Some(OWNER.to_owned()),
        ..NewRun::new(run.clone(), title, IMPORTED, first)
    };
    let created = journal.create(new, &Holder::this_process(), term).await;
    created.map(drop).map_err(|source| ImportError::Create { run, source })
}
