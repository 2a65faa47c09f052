//! Restores runs from their events, and checks that they ask for the same effects as when the events were written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use reknit_engine::{ApplyError, Effect, Event, Machine, MigrationError, OverviewBuilder, Record, ResultSource};
use reknit_journal::{DueEffect, Journal, NewEvent, StoredEvent};
use reknit_protocol::EffectId;

use crate::journal_results::{JournalResults, ResultError};
use crate::telemetry::{Telemetry, TelemetryReporter};
use crate::watcher::{Committed, EventOrigin, Watcher};

/// Why a run cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// An event cannot be parsed, for example because another version wrote it.
    #[error("cannot read event {seq}")]
    Unreadable { seq: u64, source: serde_json::Error },
    #[error("cannot serialize an event")]
    Unwritable(#[source] serde_json::Error),
    #[error("cannot apply event {seq}")]
    Refused { seq: u64, source: ApplyError },
    #[error("cannot read the stored result of the run")]
    Ending { source: serde_json::Error },
    #[error("the run has no events")]
    Empty,
    /// The machine asks for other effects than when the event was written.
    #[error("replay mismatch at event {seq}: {}", difference(.effect, .before.as_deref(), .now.as_deref()))]
    Mismatch {
        seq: u64,
        effect: String,
        /// Its digest when the event was written; `None` if it was not due.
        before: Option<String>,
        /// Its digest now; `None` if it is not due.
        now: Option<String>,
    },
    /// An older build started the run, and no snapshot of it can be continued.
    #[error("the run was started by version {found} of the state machine, and there is no snapshot of it")]
    NoSnapshot { found: u32 },
    #[error("the snapshot of the run cannot be used")]
    Migration(#[from] MigrationError),
}

fn difference(effect: &str, before: Option<&str>, now: Option<&str>) -> String {
    match (before, now) {
        (Some(_), None) => format!("`{effect}` was due and no longer is"),
        (None, _) => format!("`{effect}` is due and was not before"),
        (Some(_), Some(_)) => format!("`{effect}` is a different effect now"),
    }
}

/// Serializes an event for the journal, with the effects that it made due.
pub(crate) fn to_row(event: &Event, due: Vec<DueEffect>) -> Result<NewEvent, RestoreError> {
    let body = serde_json::to_string(event).map_err(RestoreError::Unwritable)?;
    Ok(NewEvent::new(event.at_ms, event.kind.name(), body).with_due(due))
}

/// Parses an event of the journal.
pub(crate) fn from_row(record: &StoredEvent) -> Result<Event, RestoreError> {
    serde_json::from_str(&record.body).map_err(|source| RestoreError::Unreadable { seq: record.seq, source })
}

/// An effect as the journal keeps it; `None` if it has no id.
pub(crate) fn due_effect(effect: &Effect) -> Option<DueEffect> {
    Some(DueEffect::new(effect.id()?.to_string(), effect.digest()))
}

/// How a machine was restored, as far as the next commit must show it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Restored {
    /// Other decisions than those in the journal were accepted.
    pub(crate) changes_accepted: bool,
    /// It comes from the snapshot of an older build.
    pub(crate) migrated: bool,
}

/// The kind, in the journal, of the event with which a run goes on although other effects are due than before. It and the events
/// before it are not compared any more.
pub(crate) const CHANGES_ACCEPTED: &str = "changes_accepted";

/// A machine with its pending effects.
#[derive(Debug)]
pub(crate) struct DrivenMachine {
    pub(crate) machine: Machine,
    pub(crate) pending: Vec<Effect>,
    /// What the machine decided at each event that watchers have not seen yet.
    pub(crate) decided: Vec<Vec<Record>>,
    /// Collects what is shown about the run and is not in its state.
    pub(crate) overview: OverviewBuilder,
    /// What the next commit adds to the journal.
    pub(crate) restored: Restored,
    /// Collects signals, if there is a sink for them. Boxed, because most runs of a program without one are kept in memory for long.
    pub(crate) reporter: Option<Box<TelemetryReporter>>,
    pub(crate) results: Arc<JournalResults>,
    /// The number of the last change that the run makes to the file with rules.
    pub(crate) rule_change: Option<u64>,
    /// Whether it belongs to one of several owners.
    pub(crate) has_owner: bool,
}

impl DrivenMachine {
    /// Whether only a person can go on. Once the time for a decision is over, the machine goes on without one.
    pub(crate) fn waits_for_person(&self, now_ms: i64) -> bool {
        let is_over = |effect: &Effect| matches!(effect, Effect::Sleep { until_ms, .. } if *until_ms <= now_ms);
        self.machine.is_waiting_for_person() && !self.pending.iter().any(is_over)
    }

    pub(crate) fn begin(
        event: &Event,
        journal: &Journal,
        telemetry: &Telemetry,
    ) -> Result<(Self, Vec<DueEffect>), RestoreError> {
        let (machine, records) = Machine::begin(event).map_err(|source| RestoreError::Refused { seq: 0, source })?;
        let reporter = telemetry.reporter(&machine);
        let results = JournalResults::new(journal, machine.id());
        let overview = OverviewBuilder::default();
        let (pending, decided, restored) = (Vec::new(), Vec::new(), Restored::default());
        let mut state = Self {
            machine,
            pending,
            decided,
            overview,
            restored,
            reporter,
            results,
            rule_change: None,
            has_owner: false,
        };
        let due = state.add(event, records);
        Ok((state, due))
    }

    pub(crate) fn apply(&mut self, event: &Event) -> Result<Vec<DueEffect>, RestoreError> {
        let seq = self.machine.event_count();
        let records = self.machine.apply(event).map_err(|source| RestoreError::Refused { seq, source })?;
        Ok(self.add(event, records))
    }

    /// Adds the records of an event that the machine has applied. Returns the effects that it made due.
    fn add(&mut self, event: &Event, records: Vec<Record>) -> Vec<DueEffect> {
        let mut pending = self.machine.pending();
        // A run may wait for long, and an effect is large.
        pending.shrink_to_fit();
        let before = std::mem::replace(&mut self.pending, pending);
        if let Some(reporter) = &mut self.reporter {
            reporter.observe(event.at_ms, &records);
        }
        self.overview.add(event.at_ms, &records);
        self.decided.push(records);
        let before: HashSet<Option<&EffectId>> = before.iter().map(Effect::id).collect();
        let is_new = |effect: &&Effect| !before.contains(&effect.id());
        self.pending.iter().filter(is_new).filter_map(due_effect).collect()
    }

    /// What is stored with the ending of the run, and shown from then on.
    pub(crate) fn result_to_store(&self) -> Result<String, RestoreError> {
        serde_json::to_string(&self.overview.overview(&self.machine)).map_err(RestoreError::Unwritable)
    }

    /// Fails if the machine needed a result that could not be loaded. The machine must not be used any more.
    pub(crate) fn check_results(&self) -> Result<(), ResultError> {
        self.results.take_failure().map_or(Ok(()), Err)
    }

    /// Drops large results from memory. All events must be committed.
    pub(crate) fn release_results(&mut self) {
        self.machine.release_results(&(Arc::clone(&self.results) as Arc<dyn ResultSource>));
    }

    pub(crate) fn notify_replayed(&mut self, event: &Event, watcher: &Watcher) {
        for records in self.decided.drain(..) {
            let origin = EventOrigin::Replayed;
            watcher.call(&Committed { machine: &self.machine, event, records: &records, origin });
        }
    }
}

/// The effects that each event made due.
pub(crate) type DueByEvent = HashMap<u64, Vec<DueEffect>>;

pub(crate) fn due_by_event(due: Vec<(u64, DueEffect)>) -> DueByEvent {
    let mut by_event = DueByEvent::new();
    for (seq, effect) in due {
        by_event.entry(seq).or_default().push(effect);
    }
    by_event
}

pub(crate) fn compare_due_effects(seq: u64, wanted: &[DueEffect], written: &DueByEvent) -> Result<(), RestoreError> {
    let written = written.get(&seq).map(Vec::as_slice).unwrap_or_default();
    for due in written {
        let now = wanted.iter().find(|effect| effect.effect == due.effect).map(|effect| effect.digest.clone());
        if now.as_ref() != Some(&due.digest) {
            let (effect, before) = (due.effect.clone(), Some(due.digest.clone()));
            return Err(RestoreError::Mismatch { seq, effect, before, now });
        }
    }
    match wanted.iter().find(|effect| !written.iter().any(|due| due.effect == effect.effect)) {
        Some(DueEffect { effect, digest }) => {
            Err(RestoreError::Mismatch { seq, effect: effect.clone(), before: None, now: Some(digest.clone()) })
        }
        None => Ok(()),
    }
}
