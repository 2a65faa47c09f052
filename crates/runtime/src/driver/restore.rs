//! Restores a run from its events, a page of them at a time, or from the snapshot of an older build.

use reknit_engine::{EventKind, MACHINE_VERSION, REPLAYED_VERSIONS, SnapshotMigration};
use reknit_journal::{Journal, Snapshot};
use reknit_protocol::RunId;

use crate::error::DriveError;
use crate::replay::{DrivenMachine, RestoreError, from_row};
use crate::snapshot::{Changes, DueChecks, restore_snapshot};
use crate::telemetry::Telemetry;
use crate::watcher::Watcher;

/// How many events are in memory at once while a run is restored.
const PAGE_EVENTS: u32 = 64;

/// Restores a run from the journal. Fails if other effects become due than when the events were written. The watcher sees the
/// replayed events.
pub(crate) async fn restore(
    journal: &Journal,
    run: &RunId,
    telemetry: &Telemetry,
    watcher: &Watcher,
    (changes, migrations): (Changes, &[SnapshotMigration]),
) -> Result<DrivenMachine, DriveError> {
    let replay = |changes| replay(journal, run, telemetry, watcher, changes);
    let version = match started_version(journal, run).await? {
        Some(MACHINE_VERSION) | None => return replay(changes).await,
        Some(version) => version,
    };
    let is_replayed = REPLAYED_VERSIONS.contains(&version);
    let mut refused = RestoreError::NoSnapshot { found: version };
    if is_replayed {
        match replay(Changes::Refused).await {
            Err(DriveError::Restore(error)) => refused = error,
            replayed => return replayed,
        }
    }
    match journal.snapshot(run).await? {
        Some(snapshot) => continue_snapshot(journal, run, &snapshot, changes, migrations).await,
        None if is_replayed && changes == Changes::Accepted => replay(changes).await,
        None => Err(refused.into()),
    }
}

/// The version of the machine that started a run; `None` if there is no event.
async fn started_version(journal: &Journal, run: &RunId) -> Result<Option<u32>, DriveError> {
    let Some(first) = journal.events_page(run, 0, 1).await?.pop() else { return Ok(None) };
    Ok(match from_row(&first)?.kind {
        EventKind::Started(started) => Some(started.machine_version),
        EventKind::SessionStarted(started) => Some(started.machine_version),
        _ => None,
    })
}

/// Restores a run from the snapshot of another version, and applies the events after it.
async fn continue_snapshot(
    journal: &Journal,
    run: &RunId,
    snapshot: &Snapshot,
    changes: Changes,
    migrations: &[SnapshotMigration],
) -> Result<DrivenMachine, DriveError> {
    let newer = journal.events(run, snapshot.len).await?;
    let checks = DueChecks::load(journal, run, changes).await?;
    Ok(restore_snapshot(snapshot, &newer, &checks, journal, migrations)?)
}

async fn replay(
    journal: &Journal,
    run: &RunId,
    telemetry: &Telemetry,
    watcher: &Watcher,
    changes: Changes,
) -> Result<DrivenMachine, DriveError> {
    let checks = DueChecks::load(journal, run, changes).await?;
    let mut restored: Option<DrivenMachine> = None;
    loop {
        let from = restored.as_ref().map_or(0, |state| state.machine.event_count());
        let page = journal.events_page(run, from, PAGE_EVENTS).await?;
        if page.is_empty() {
            break;
        }
        for record in &page {
            let event = from_row(record)?;
            let wanted = if let Some(state) = &mut restored {
                state.apply(&event)?
            } else {
                let (state, wanted) = DrivenMachine::begin(&event, journal, telemetry)?;
                restored = Some(state);
                wanted
            };
            checks.check(record.seq, &wanted)?;
            if let Some(state) = &mut restored {
                state.check_results()?;
                state.notify_replayed(&event, watcher);
                state.release_results();
            }
        }
    }
    let mut state = restored.ok_or(RestoreError::Empty)?;
    if let Some(reporter) = &mut state.reporter {
        reporter.forget();
    }
    Ok(state)
}
