//! Finds runs in the journal and loads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_engine::{Event, HistoryEntry, Machine, Record, ResultSource, SessionRecord, history};
use reknit_journal::{Journal, PrunedRun, RunFilter, StoredEvent};
use reknit_protocol::{RunId, StepId};
use reknit_runtime::JournalResults;

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
    // An id may be the beginning of another one.
    if journal.exists(&name.into()).await.map_err(Failure::journal)? {
        return Ok(name.into());
    }
    let found = journal.runs_with_prefix(name, MAX_LISTED).await.map_err(Failure::journal)?;
    match found.as_slice() {
        [run] => Ok(run.clone()),
        [] => match journal.pruned_run(&name.into()).await.map_err(Failure::journal)? {
            Some(pruned) => Err(Failure::Usage { message: pruned_words(&pruned), hint: None }),
            None => Err(Failure::usage(format!("there is no run `{name}`"), "list your runs with `reknit runs list`")),
        },
        several => {
            let names: Vec<&str> = several.iter().map(RunId::as_str).collect();
            let hint = format!("give more characters of one of: {}", names.join(", "));
            Err(Failure::usage(format!("several runs start with `{name}`"), hint))
        }
    }
}

/// What is left of a run that was pruned or deleted, for people.
pub(crate) fn pruned_words(pruned: &PrunedRun) -> String {
    let at = jiff::Timestamp::from_millisecond(pruned.pruned_ms)
        .map_or_else(|_| "at an unknown time".to_owned(), |at| format!("on {}", at.strftime("%Y-%m-%d at %H:%M UTC")));
    format!("run `{}` was pruned {at}; its status was {}", pruned.run, pruned.status.replace('_', " "))
}

/// How many events are in memory at once.
const PAGE_EVENTS: u32 = 64;

/// A run that was replayed from its events. Large results stay in the journal.
pub(crate) struct SavedRun {
    pub(crate) run: Machine,
    /// The time of each event, and what the machine decided for it.
    records: Vec<(i64, Vec<Record>)>,
    results: Arc<JournalResults>,
}

/// The history of each step.
pub(crate) type History = BTreeMap<StepId, Vec<HistoryEntry>>;

impl SavedRun {
    /// When the run began, in milliseconds since 1970.
    pub(crate) fn started_ms(&self) -> Option<i64> {
        self.records.first().map(|(at_ms, _)| *at_ms)
    }

    /// The records of a session, without those of the machines nested in it.
    pub(crate) fn session_records(&self) -> Vec<SessionRecord> {
        let records = self.records.iter().flat_map(|(_, records)| records);
        records.filter_map(Record::as_own_session).cloned().collect()
    }

    /// The history of each step.
    pub(crate) fn history(&self) -> History {
        history(self.records.iter().map(|(at_ms, records)| (*at_ms, records)))
    }

    /// Fails if a result could not be loaded from the journal.
    pub(crate) fn check_results(&self) -> Result<(), Failure> {
        self.results.take_failure().map_or(Ok(()), |error| Err(Failure::journal(error)))
    }
}

fn decode(event: &StoredEvent) -> Result<Event, Failure> {
    serde_json::from_str(&event.body).map_err(Failure::journal)
}

/// Replays a run from the journal.
pub(crate) async fn load_run(journal: &Journal, run: &RunId) -> Result<SavedRun, Failure> {
    let results = JournalResults::new(journal, run);
    let source: Arc<dyn ResultSource> = Arc::clone(&results) as _;
    let mut machine: Option<Machine> = None;
    let mut records = Vec::new();
    for_each_event(journal, run, |stored| {
        let event = decode(stored)?;
        let decided = if let Some(machine) = &mut machine {
            machine.apply(&event).map_err(Failure::journal)?
        } else {
            let (begun, decided) = Machine::begin(&event).map_err(Failure::journal)?;
            machine = Some(begun);
            decided
        };
        records.push((event.at_ms, decided));
        if let Some(machine) = &mut machine {
            machine.release_results(&source);
        }
        Ok(())
    })
    .await?;
    let Some(run) = machine else {
        return Err(Failure::Usage { message: format!("run `{run}` has no events"), hint: None });
    };
    let saved = SavedRun { run, records, results };
    saved.check_results()?;
    Ok(saved)
}

/// All events of a run.
pub(crate) async fn load_events(journal: &Journal, run: &RunId) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    for_each_event(journal, run, |stored| {
        events.push(decode(stored)?);
        Ok(())
    })
    .await?;
    Ok(events)
}

/// Reads the events of a run one after the other.
pub(crate) async fn for_each_event(
    journal: &Journal,
    run: &RunId,
    mut read: impl FnMut(&StoredEvent) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut from_seq = 0;
    loop {
        let page = journal.events_page(run, from_seq, PAGE_EVENTS).await.map_err(Failure::journal)?;
        let Some(last) = page.last() else { return Ok(()) };
        from_seq = last.seq + 1;
        page.iter().try_for_each(&mut read)?;
    }
}
