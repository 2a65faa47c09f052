//! What the holder of a lease adds to a run.

use std::collections::BTreeSet;

use super::{Verdict, fenced};
use crate::blob::{Folded, fold};
use crate::error::storage::Stored;
use crate::tables::{RunKey, RunRow, Tables};
use crate::{Append, AppendError, Ending, Holder, Lease, Lesson, SignalId, Snapshot};

/// What is to be appended, with the events folded: that takes time, and is done before the store is asked.
pub(crate) struct Prepared {
    expected_len: u64,
    events: Vec<Folded>,
    consumed: Vec<SignalId>,
    snapshot: Option<Snapshot>,
    lessons: Vec<Lesson>,
    ending: Option<Ending>,
}

impl From<Append> for Prepared {
    fn from(append: Append) -> Self {
        let Append { expected_len, events, consumed, snapshot, lessons, ending } = append;
        Self { expected_len, events: events.into_iter().map(fold).collect(), consumed, snapshot, lessons, ending }
    }
}

/// Compare-and-append: all of it, or nothing.
pub(crate) fn append(tables: &mut dyn Tables, lease: &Lease, new: &Prepared) -> Verdict<u64, AppendError> {
    let mut row = match at_length(tables, lease, new.expected_len, |len| len == new.expected_len)? {
        Err(refused) => return Ok(Err(refused)),
        Ok(row) => row,
    };
    let len = row.state.len.saturating_add(u64::try_from(new.events.len()).unwrap_or(u64::MAX));
    if let Some(id) = not_waiting(tables, row.key, &new.consumed)? {
        return Ok(Err(AppendError::NotWaiting { run: lease.run.clone(), id }));
    }
    if let Some(snapshot) = new.snapshot.as_ref().filter(|snapshot| snapshot.len > len) {
        return Ok(Err(AppendError::Conflict { run: lease.run.clone(), len, expected: snapshot.len }));
    }
    for (seq, event) in (row.state.len..).zip(&new.events) {
        tables.add_event(row.key, seq, event)?;
        row.state.updated_ms = event.event.at_ms;
    }
    for id in &new.consumed {
        tables.consume(row.key, *id, len)?;
    }
    if let Some(snapshot) = &new.snapshot {
        tables.set_snapshot(row.key, snapshot)?;
    }
    for lesson in &new.lessons {
        tables.set_lesson(lesson, row.state.updated_ms)?;
    }
    if let Some(Ending { status, at_ms }) = &new.ending {
        row.state.status = Some(status.clone());
        row.state.updated_ms = *at_ms;
        row.state.lease = None;
    }
    row.state.len = len;
    tables.set_run(row.key, &row.state)?;
    Ok(Ok(len))
}

/// Keeps a snapshot of a state whose events are all committed.
pub(crate) fn save_snapshot(tables: &mut dyn Tables, lease: &Lease, snapshot: &Snapshot) -> Verdict<(), AppendError> {
    match at_length(tables, lease, snapshot.len, |len| snapshot.len <= len)? {
        Err(refused) => Ok(Err(refused)),
        Ok(row) => Ok(Ok(tables.set_snapshot(row.key, snapshot)?)),
    }
}

/// The run, if `lease` is its newest and its length is what it should be.
fn at_length(
    tables: &dyn Tables,
    lease: &Lease,
    expected: u64,
    fits: impl Fn(u64) -> bool,
) -> Verdict<RunRow, AppendError> {
    let run = || lease.run.clone();
    Ok(match fenced(tables, lease)? {
        Err(by) => Err(fenced_off(lease, by)),
        Ok(row) if fits(row.state.len) => Ok(row),
        Ok(row) => Err(AppendError::Conflict { run: run(), len: row.state.len, expected }),
    })
}

fn fenced_off(lease: &Lease, by: Option<Holder>) -> AppendError {
    AppendError::Fenced { run: lease.run.clone(), by }
}

/// The first of `consumed` that is not unread, or stands there twice.
fn not_waiting(tables: &dyn Tables, key: RunKey, consumed: &[SignalId]) -> Stored<Option<SignalId>> {
    if consumed.is_empty() {
        return Ok(None);
    }
    let letters = tables.unread(key, SignalId(0))?;
    let mut unread: BTreeSet<SignalId> = letters.iter().map(|letter| letter.id).collect();
    Ok(consumed.iter().find(|id| !unread.remove(id)).copied())
}
