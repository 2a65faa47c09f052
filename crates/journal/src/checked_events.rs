//! Reading the events of a run: none may be missing or changed.

use crate::error::storage::{StoreFailure, StoreResult};
use crate::tables::{ReadTables, RunRow};
use crate::{EventsOfKind, StoredEvent};

/// At most `limit` events from `from_seq` on. Replaying events with a gap would restore a state that never existed.
pub(crate) fn checked_events(
    tables: &dyn ReadTables,
    row: &RunRow,
    from_seq: u64,
    limit: u32,
) -> StoreResult<Vec<StoredEvent>> {
    let RunRow { key, summary } = row;
    let of_run = |failure| match failure {
        StoreFailure::Chain { seq } => {
            let problem =
                format!("event {seq} of run `{}`, or a row that belongs to it, was changed or deleted", summary.run);
            StoreFailure::Contents(problem)
        }
        other => other,
    };
    let events = tables.events(*key, from_seq, limit).map_err(of_run)?;
    let from = from_seq.min(summary.len);
    let expected = from..summary.len.min(from.saturating_add(u64::from(limit)));
    if events.iter().map(|event| event.seq).eq(expected) {
        return Ok(events);
    }
    Err(StoreFailure::Contents(format!("events of run `{}` are missing", summary.run)))
}

/// The events of one kind.
pub(crate) fn events_of_kind(
    tables: &dyn ReadTables,
    row: &RunRow,
    which: EventsOfKind,
) -> StoreResult<Vec<StoredEvent>> {
    let mut events = Vec::new();
    for seq in tables.positions_of_kind(row.key, which.kind, which.from_seq)? {
        events.extend(checked_events(tables, row, seq, 1)?);
    }
    Ok(events)
}
