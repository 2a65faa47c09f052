//! Snapshots: the state of a machine as text, so that a later build can continue a run that waits.

use std::collections::BTreeMap;

use reknit_engine::{
    Effect, HistoryEntry, MACHINE_VERSION, Machine, OverviewBuilder, SnapshotMigration, migrate_snapshot,
};
use reknit_journal::{DueEffect, Journal, Snapshot, StoredEvent};
use reknit_protocol::{RunId, StepId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::DriveError;
use crate::journal_results::JournalResults;
use crate::replay::{
    CHANGES_ACCEPTED, DrivenMachine, DueByEvent, RestoreError, Restored, compare_due_effects, due_by_event, due_effect,
    from_row,
};

/// The parts of a snapshot.
#[derive(Deserialize)]
struct SavedState {
    machine: Box<RawValue>,
    overview: OverviewBuilder,
}

/// A snapshot of a machine. All its events must be committed, or be committed together with the snapshot.
pub(crate) fn snapshot_of(state: &DrivenMachine) -> Result<Snapshot, RestoreError> {
    let (len, machine_version) = (state.machine.event_count(), MACHINE_VERSION);
    let machine = state.machine.snapshot().map_err(|source| RestoreError::Refused { seq: len, source })?;
    let overview = serde_json::to_string(&state.overview).map_err(RestoreError::Unwritable)?;
    Ok(Snapshot { len, machine_version, body: format!(r#"{{"machine":{machine},"overview":{overview}}}"#) })
}

/// The history of the steps in a snapshot. Empty if another build wrote it in a form that this one cannot read.
pub(crate) fn saved_history(snapshot: &Snapshot) -> BTreeMap<StepId, Vec<HistoryEntry>> {
    #[derive(Deserialize)]
    struct OverviewOnly {
        overview: OverviewBuilder,
    }
    let saved = serde_json::from_str::<OverviewOnly>(&snapshot.body);
    saved.map(|saved| saved.overview.history().clone()).unwrap_or_default()
}

/// What happens if this build decides differently than the one that wrote the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// The run is not restored.
    Refused,
    /// The run goes on from what this build decides.
    Accepted,
}

/// Which effects must be due as before.
#[derive(Debug)]
pub(crate) struct DueChecks {
    due: Vec<(u64, DueEffect)>,
    by_event: DueByEvent,
    /// The events up to this one are not compared.
    accepted: Option<u64>,
}

impl DueChecks {
    pub(crate) async fn load(journal: &Journal, run: &RunId, changes: Changes) -> Result<Self, DriveError> {
        let due = journal.due_effects(run).await?;
        let accepted = match changes {
            Changes::Accepted => Some(u64::MAX),
            Changes::Refused => journal.last_event_of_kind(run, CHANGES_ACCEPTED).await?,
        };
        Ok(Self { by_event: due_by_event(due.clone()), due, accepted })
    }

    /// Fails if the event made other effects due than when it was written.
    pub(crate) fn check(&self, seq: u64, wanted: &[DueEffect]) -> Result<(), RestoreError> {
        if self.accepted.is_some_and(|accepted| seq <= accepted) {
            return Ok(());
        }
        compare_due_effects(seq, wanted, &self.by_event)
    }

    /// Fails if an effect of a state was never due. The state includes the events before `len`.
    fn check_state(&self, len: u64, pending: &[Effect]) -> Result<(), RestoreError> {
        let seq = len.saturating_sub(1);
        if self.accepted.is_some_and(|accepted| seq <= accepted) {
            return Ok(());
        }
        for wanted in pending.iter().filter_map(due_effect) {
            if !self.due.iter().any(|(_, written)| *written == wanted) {
                let before = self.due.iter().rev().find(|(_, written)| written.effect == wanted.effect);
                let before = before.map(|(_, written)| written.digest.clone());
                return Err(RestoreError::Mismatch { seq, effect: wanted.effect, before, now: Some(wanted.digest) });
            }
        }
        Ok(())
    }
}

/// Restores a machine from a snapshot, which an older build may have written, and applies the newer events to it. Fails if other
/// effects become due than when the events were written, or if an effect that the snapshot asks for was never due.
pub(crate) fn restore_snapshot(
    snapshot: &Snapshot,
    newer: &[StoredEvent],
    checks: &DueChecks,
    journal: &Journal,
    migrations: &[SnapshotMigration],
) -> Result<DrivenMachine, RestoreError> {
    let seq = snapshot.len;
    let unreadable = |source| RestoreError::Unreadable { seq, source };
    let saved: SavedState = serde_json::from_str(&snapshot.body).map_err(unreadable)?;
    let text = migrate_snapshot(saved.machine.get(), snapshot.machine_version, migrations)?;
    let machine = Machine::restore(&text).map_err(|source| RestoreError::Refused { seq, source })?;
    let pending = machine.pending();
    checks.check_state(seq, &pending)?;
    let results = JournalResults::new(journal, machine.id());
    let restored = Restored { migrated: snapshot.machine_version != MACHINE_VERSION, ..Restored::default() };
    let (decided, overview) = (Vec::new(), saved.overview);
    let (reporter, rule_change, has_owner) = (None, None, false);
    let mut state =
        DrivenMachine { machine, pending, decided, overview, restored, reporter, results, rule_change, has_owner };
    for record in newer {
        let wanted = state.apply(&from_row(record)?)?;
        checks.check(record.seq, &wanted)?;
    }
    state.decided.clear();
    Ok(state)
}
