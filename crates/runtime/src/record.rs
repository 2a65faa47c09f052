//! Events on their way into the journal and back, and the check that a run read back is the run that was written.

use reknit_engine::{ApplyError, Effect, Event, Machine};
use reknit_journal::{Due, NewEvent, Record};

use crate::telemetry::{Telemetry, Teller};

/// Why a run cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// An event is not one this version knows.
    #[error("event {seq} cannot be read")]
    Unreadable {
        /// Which event.
        seq: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// An event cannot be written.
    #[error("an event cannot be written")]
    Unwritable(#[source] serde_json::Error),
    /// The machine does not take an event.
    #[error("event {seq} cannot be applied")]
    Refused {
        /// Which event.
        seq: u64,
        /// Why.
        source: ApplyError,
    },
    /// The run has no events.
    #[error("the run has no events")]
    Empty,
    /// The machine wants something else than it wanted when the run was written.
    #[error("replay mismatch at event {seq}: {problem}")]
    Mismatch {
        /// Which event.
        seq: u64,
        /// What differs.
        problem: String,
    },
}

/// The event as a row, with the effects it made due.
pub(crate) fn to_row(event: &Event, due: Vec<Due>) -> Result<NewEvent, RestoreError> {
    let body = serde_json::to_string(event).map_err(RestoreError::Unwritable)?;
    Ok(NewEvent::new(event.at_ms, event.what.name(), body).with_due(due))
}

/// The event in a row.
pub(crate) fn from_row(record: &Record) -> Result<Event, RestoreError> {
    serde_json::from_str(&record.body).map_err(|source| RestoreError::Unreadable { seq: record.seq, source })
}

/// The effects that are due now and were not before.
pub(crate) fn newly_due(before: &[Effect], after: &[Effect]) -> Vec<Due> {
    let is_new = |effect: &&Effect| !before.iter().any(|known| known.id() == effect.id());
    after
        .iter()
        .filter(|effect| effect.id().is_some())
        .filter(is_new)
        .filter_map(|effect| Some(Due::new(&effect.id()?.to_string(), effect.digest())))
        .collect()
}

/// Applies events one after the other and keeps what each made due.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) run: Machine,
    pub(crate) pending: Vec<Effect>,
    /// Who tells of it, if anybody is told.
    pub(crate) teller: Option<Teller>,
}

impl Fold {
    pub(crate) fn begin(event: &Event, telemetry: &Telemetry) -> Result<(Self, Vec<Due>), RestoreError> {
        let run = Machine::begin(event).map_err(|source| RestoreError::Refused { seq: 0, source })?;
        let pending = run.pending();
        let due = newly_due(&[], &pending);
        let mut teller = telemetry.teller(&run);
        if let Some(teller) = &mut teller {
            teller.observe(&run, &pending, event);
        }
        Ok((Self { run, pending, teller }, due))
    }

    pub(crate) fn apply(&mut self, event: &Event) -> Result<Vec<Due>, RestoreError> {
        let seq = self.run.event_count();
        self.run.apply(event).map_err(|source| RestoreError::Refused { seq, source })?;
        let after = self.run.pending();
        let due = newly_due(&self.pending, &after);
        self.pending = after;
        if let Some(teller) = &mut self.teller {
            teller.observe(&self.run, &self.pending, event);
        }
        Ok(due)
    }
}

/// Reads a run back and compares what it wants with what it wanted.
pub(crate) fn replay(records: &[Record], due: &[(u64, Due)], telemetry: &Telemetry) -> Result<Fold, RestoreError> {
    let (first, rest) = records.split_first().ok_or(RestoreError::Empty)?;
    let (mut fold, wanted) = Fold::begin(&from_row(first)?, telemetry)?;
    compare(first.seq, &wanted, due)?;
    for record in rest {
        let wanted = fold.apply(&from_row(record)?)?;
        compare(record.seq, &wanted, due)?;
    }
    if let Some(teller) = &mut fold.teller {
        teller.forget();
    }
    Ok(fold)
}

/// Reads a run on from a snapshot, and compares what it wants with what it wanted. What the snapshot itself wants must have
/// been wanted before.
pub(crate) fn replay_onto(run: Machine, newer: &[Record], due: &[(u64, Due)]) -> Result<Fold, RestoreError> {
    let pending = run.pending();
    let seq = run.event_count();
    for effect in pending.iter().filter(|effect| effect.id().is_some()) {
        let wanted = Due::new(&effect.id().map(ToString::to_string).unwrap_or_default(), effect.digest());
        if !due.iter().any(|(_, written)| *written == wanted) {
            let problem = format!("`{}` of the snapshot was never due like this", wanted.effect);
            return Err(RestoreError::Mismatch { seq, problem });
        }
    }
    let mut fold = Fold { run, pending, teller: None };
    for record in newer {
        let wanted = fold.apply(&from_row(record)?)?;
        compare(record.seq, &wanted, due)?;
    }
    Ok(fold)
}

fn compare(seq: u64, wanted: &[Due], written: &[(u64, Due)]) -> Result<(), RestoreError> {
    let written: Vec<&Due> = written.iter().filter(|(at, _)| *at == seq).map(|(_, due)| due).collect();
    let mismatch = |problem: String| Err(RestoreError::Mismatch { seq, problem });
    for due in &written {
        match wanted.iter().find(|effect| effect.effect == due.effect) {
            None => return mismatch(format!("`{}` was due and is not", due.effect)),
            Some(effect) if effect.digest != due.digest => {
                return mismatch(format!("`{}` is another effect now", due.effect));
            }
            Some(_) => {}
        }
    }
    match wanted.iter().find(|effect| !written.iter().any(|due| due.effect == effect.effect)) {
        Some(effect) => mismatch(format!("`{}` is due and was not", effect.effect)),
        None => Ok(()),
    }
}
