//! Finds runs in the journal and loads them.

use std::collections::BTreeMap;

use reknit_engine::{Event, HistoryEntry, Machine, Record, SessionRecord, history};
use reknit_journal::{Journal, RunFilter, StoredEvent};
use reknit_protocol::{RunId, StepId};

use crate::failure::Failure;

/// The most runs that an error lists when several ids start with the given characters.
const MAX_LISTED: u32 = 5;

/// Finds a run by its id, the first characters of its id, or `last`.
pub(crate) async fn find_run(journal: &Journal, name: &str) -> Result<RunId, Failure> {
    if name == "last" {
        let newest = journal.runs(&RunFilter::newest(1)).await.map_err(Failure::journal)?;
        let newest = newest.into_iter().next().map(|summary| summary.run);
        return newest.ok_or_else(|| Failure::usage("the journal has no runs", "start one with `reknit demo`"));
    }
    let found = journal.runs_with_prefix(name, MAX_LISTED).await.map_err(Failure::journal)?;
    match found.as_slice() {
        [run] => Ok(run.clone()),
        [] => Err(Failure::usage(format!("there is no run `{name}`"), "list your runs with `reknit runs list`")),
        several => {
            let names: Vec<&str> = several.iter().map(RunId::as_str).collect();
            let hint = format!("give more characters of one of: {}", names.join(", "));
            Err(Failure::usage(format!("several runs start with `{name}`"), hint))
        }
    }
}

/// A run that was replayed from its events.
pub(crate) struct SavedRun {
    pub(crate) run: Machine,
    /// The decision records of the machine for each event.
    records: Vec<Vec<Record>>,
    pub(crate) stored: Vec<StoredEvent>,
}

/// The history of each step.
pub(crate) type History = BTreeMap<StepId, Vec<HistoryEntry>>;

impl SavedRun {
    /// The decoded events.
    pub(crate) fn events(&self) -> Result<Vec<Event>, Failure> {
        self.stored.iter().map(decode).collect()
    }

    /// The records of a session, without those of the machines nested in it.
    pub(crate) fn session_records(&self) -> Vec<SessionRecord> {
        self.records.iter().flatten().filter_map(Record::as_own_session).cloned().collect()
    }

    /// The history of each step.
    pub(crate) fn history(&self) -> History {
        history(self.stored.iter().map(|event| event.at_ms).zip(&self.records))
    }
}

fn decode(event: &StoredEvent) -> Result<Event, Failure> {
    serde_json::from_str(&event.body).map_err(Failure::journal)
}

/// Replays a run from the journal.
pub(crate) async fn load_run(journal: &Journal, run: &RunId) -> Result<SavedRun, Failure> {
    let stored = journal.events(run, 0).await.map_err(Failure::journal)?;
    let events = stored.iter().map(decode).collect::<Result<Vec<Event>, Failure>>()?;
    match Machine::replay(&events).map_err(Failure::journal)? {
        Some((run, records)) => Ok(SavedRun { run, records, stored }),
        None => Err(Failure::Usage { message: format!("run `{run}` has no events"), hint: None }),
    }
}
