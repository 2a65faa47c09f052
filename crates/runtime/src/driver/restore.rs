//! Restores a run from its events, a page of them at a time.

use reknit_journal::Journal;
use reknit_protocol::RunId;

use crate::error::DriveError;
use crate::replay::{DrivenMachine, RestoreError, compare_due_effects, due_by_event, from_row};
use crate::telemetry::Telemetry;
use crate::watcher::Watcher;

/// How many events are in memory at once while a run is restored.
const PAGE_EVENTS: u32 = 64;

/// Restores a run from its events in the journal. Fails if other effects become due than when the events were written. The
/// watcher sees the replayed events.
pub(crate) async fn restore(
    journal: &Journal,
    run: &RunId,
    telemetry: &Telemetry,
    watcher: &Watcher,
) -> Result<DrivenMachine, DriveError> {
    let due = due_by_event(journal.due_effects(run).await?);
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
            compare_due_effects(record.seq, &wanted, &due)?;
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
