//! A run of the journal as JSON lines: all that is stored about it, for people, other programs and tests.

use reknit_journal::{Journal, RunReadError, StoredEvent};
use reknit_protocol::RunId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::DriveError;
use crate::replay::{RestoreError, due_by_event};

/// How many events are in memory at once.
const PAGE_EVENTS: u32 = 64;

/// One line of an exported run. The run comes first, then its events in order, then the rest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportLine {
    Run {
        run: RunId,
        /// The request, or the name of the plan.
        title: String,
        events: u64,
        #[serde(default)]
        status: Option<String>,
        #[serde(default)]
        parked: Option<String>,
    },
    Event {
        /// Its position, from 0.
        seq: u64,
        /// The effects that it made due, each with its digest.
        due: Vec<(String, String)>,
        /// The event, byte for byte as it is stored.
        body: Box<RawValue>,
    },
    /// The ids of the calls that were about to be made.
    Claims(Vec<String>),
    /// The state of the machine when the run last waited.
    Snapshot {
        len: u64,
        machine_version: u32,
        /// The state, byte for byte as it is stored.
        body: Box<RawValue>,
    },
    /// What was stored with the ending: the answer or the report, and all that is shown about the run.
    Ending(Box<RawValue>),
}

/// Passes the lines of a run to `write`, one after the other. A snapshot is only useful to the build that wrote it, so it is only
/// passed `with_snapshot`.
pub async fn export<E: From<DriveError>>(
    journal: &Journal,
    run: &RunId,
    with_snapshot: bool,
    mut write: impl FnMut(String) -> Result<(), E>,
) -> Result<(), E> {
    let mut line = |line: &ExportLine| {
        let text = serde_json::to_string(line).map_err(|error| E::from(RestoreError::Unwritable(error).into()))?;
        write(text)
    };
    let read = |error: RunReadError| E::from(error.into());
    let summary = journal.summary(run).await.map_err(read)?;
    let (title, status, parked) = (summary.title, summary.status, summary.parked);
    line(&ExportLine::Run { run: run.clone(), title, events: summary.len, status, parked })?;
    let mut due = due_by_event(journal.due_effects(run).await.map_err(read)?);
    let mut next = 0;
    loop {
        let page = journal.events_page(run, next, PAGE_EVENTS).await.map_err(read)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for StoredEvent { seq, body, .. } in page {
            let due = due.remove(&seq).unwrap_or_default();
            let due = due.into_iter().map(|due| (due.effect, due.digest)).collect();
            line(&ExportLine::Event { seq, due, body: raw(seq, body)? })?;
        }
    }
    let claims = journal.claims(run).await.map_err(read)?;
    if !claims.is_empty() {
        line(&ExportLine::Claims(claims))?;
    }
    let snapshot = if with_snapshot { journal.snapshot(run).await.map_err(read)? } else { None };
    if let Some(snapshot) = snapshot {
        let (len, machine_version) = (snapshot.len, snapshot.machine_version);
        line(&ExportLine::Snapshot { len, machine_version, body: raw(len, snapshot.body)? })?;
    }
    if let Some(ending) = journal.ending(run).await.map_err(read)? {
        line(&ExportLine::Ending(raw(next, ending)?))?;
    }
    Ok(())
}

fn raw<E: From<DriveError>>(seq: u64, text: String) -> Result<Box<RawValue>, E> {
    RawValue::from_string(text).map_err(|source| E::from(RestoreError::Unreadable { seq, source }.into()))
}
