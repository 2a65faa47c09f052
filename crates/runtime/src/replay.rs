//! Restores runs from their events, and checks that they ask for the same effects as when the events were written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use reknit_engine::{ApplyError, Effect, Event, Machine, Record, ResultSource};
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
    Unreadable {
        /// The number of the event.
        seq: u64,
        /// The parse error.
        source: serde_json::Error,
    },
    /// An event cannot be serialized.
    #[error("cannot serialize an event")]
    Unwritable(#[source] serde_json::Error),
    /// The machine rejects an event.
    #[error("cannot apply event {seq}")]
    Refused {
        /// The number of the event.
        seq: u64,
        /// Why the machine rejects it.
        source: ApplyError,
    },
    /// The run has no events.
    #[error("the run has no events")]
    Empty,
    /// The machine asks for other effects than when the event was written.
    #[error("replay mismatch at event {seq}: {problem}")]
    Mismatch {
        /// The number of the event.
        seq: u64,
        /// The difference.
        problem: String,
    },
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
fn due_effect(effect: &Effect) -> Option<DueEffect> {
    Some(DueEffect::new(effect.id()?.to_string(), effect.digest()))
}

/// A machine with its pending effects.
#[derive(Debug)]
pub(crate) struct DrivenMachine {
    pub(crate) machine: Machine,
    pub(crate) pending: Vec<Effect>,
    /// What the machine decided at each event that watchers have not seen yet.
    pub(crate) decided: Vec<Vec<Record>>,
    /// Collects signals, if there is a sink for them.
    pub(crate) reporter: Option<TelemetryReporter>,
    results: Arc<JournalResults>,
}

impl DrivenMachine {
    pub(crate) fn begin(
        event: &Event,
        journal: &Journal,
        telemetry: &Telemetry,
    ) -> Result<(Self, Vec<DueEffect>), RestoreError> {
        let (machine, records) = Machine::begin(event).map_err(|source| RestoreError::Refused { seq: 0, source })?;
        let reporter = telemetry.reporter(&machine);
        let results = JournalResults::new(journal, machine.id());
        let mut state = Self { machine, pending: Vec::new(), decided: Vec::new(), reporter, results };
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
        let before = std::mem::replace(&mut self.pending, self.machine.pending());
        if let Some(reporter) = &mut self.reporter {
            reporter.observe(event.at_ms, &records);
        }
        self.decided.push(records);
        let before: HashSet<Option<&EffectId>> = before.iter().map(Effect::id).collect();
        let is_new = |effect: &&Effect| !before.contains(&effect.id());
        self.pending.iter().filter(is_new).filter_map(due_effect).collect()
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

/// Applies newer events to a machine from a snapshot. Fails if other effects become due than when the events were written,
/// or if an effect that the snapshot asks for was never due.
pub(crate) fn replay_onto(
    machine: Machine,
    newer: &[StoredEvent],
    due: Vec<(u64, DueEffect)>,
    journal: &Journal,
) -> Result<DrivenMachine, RestoreError> {
    let pending = machine.pending();
    let seq = machine.event_count();
    for wanted in pending.iter().filter_map(due_effect) {
        if !due.iter().any(|(_, written)| *written == wanted) {
            let problem = format!("the snapshot asks for `{}`, which was never due in this form", wanted.effect);
            return Err(RestoreError::Mismatch { seq, problem });
        }
    }
    let due = due_by_event(due);
    let results = JournalResults::new(journal, machine.id());
    let mut state = DrivenMachine { machine, pending, decided: Vec::new(), reporter: None, results };
    for record in newer {
        let wanted = state.apply(&from_row(record)?)?;
        compare_due_effects(record.seq, &wanted, &due)?;
    }
    state.decided.clear();
    Ok(state)
}

pub(crate) fn compare_due_effects(seq: u64, wanted: &[DueEffect], written: &DueByEvent) -> Result<(), RestoreError> {
    let written = written.get(&seq).map(Vec::as_slice).unwrap_or_default();
    let mismatch = |problem: String| Err(RestoreError::Mismatch { seq, problem });
    for due in written {
        match wanted.iter().find(|effect| effect.effect == due.effect) {
            None => return mismatch(format!("`{}` was due and no longer is", due.effect)),
            Some(effect) if effect.digest != due.digest => {
                return mismatch(format!("`{}` is a different effect now", due.effect));
            }
            Some(_) => {}
        }
    }
    match wanted.iter().find(|effect| !written.iter().any(|due| due.effect == effect.effect)) {
        Some(effect) => mismatch(format!("`{}` is due and was not before", effect.effect)),
        None => Ok(()),
    }
}
