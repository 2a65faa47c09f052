//! Rules for appends and snapshots.

use std::collections::BTreeSet;

use super::{RuleResult, check_lease};
use crate::blob::{SplitEvent, split_event};
use crate::error::storage::StoreResult;
use crate::tables::{RunKey, RunRow, WriteTables};
use crate::{Append, AppendError, Lease, RunEnding, SignalId, Snapshot, StoredMapping};

/// An append whose events are already split: splitting takes time, so it happens before the store is locked.
pub(crate) struct PreparedAppend {
    expected_len: u64,
    events: Vec<SplitEvent>,
    consumed: Vec<SignalId>,
    snapshot: Option<Snapshot>,
    learned_mappings: Vec<StoredMapping>,
    ending: Option<RunEnding>,
}

impl From<Append> for PreparedAppend {
    fn from(append: Append) -> Self {
        let Append { expected_len, events, consumed, snapshot, learned_mappings, ending } = append;
        let events = events.into_iter().map(split_event).collect();
        Self { expected_len, events, consumed, snapshot, learned_mappings, ending }
    }
}

/// Compare-and-append: writes all of `new`, or nothing.
pub(crate) fn append(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    new: &PreparedAppend,
) -> RuleResult<u64, AppendError> {
    let mut row = match check_length(tables, lease, new.expected_len, |len| len == new.expected_len)? {
        Err(refused) => return Ok(Err(refused)),
        Ok(row) => row,
    };
    let len = row.state.len.saturating_add(u64::try_from(new.events.len()).unwrap_or(u64::MAX));
    if let Some(id) = first_not_pending(tables, row.key, &new.consumed)? {
        return Ok(Err(AppendError::SignalNotPending { run: lease.run.clone(), id }));
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
    for mapping in &new.learned_mappings {
        tables.set_learned_mapping(mapping, row.state.updated_ms)?;
    }
    if let Some(RunEnding { status, at_ms }) = &new.ending {
        row.state.status = Some(status.clone());
        row.state.updated_ms = *at_ms;
        row.state.lease = None;
    }
    row.state.len = len;
    tables.set_run(row.key, &row.state)?;
    Ok(Ok(len))
}

/// Saves a snapshot of a state whose events are all committed.
pub(crate) fn save_snapshot(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    snapshot: &Snapshot,
) -> RuleResult<(), AppendError> {
    match check_length(tables, lease, snapshot.len, |len| snapshot.len <= len)? {
        Err(refused) => Ok(Err(refused)),
        Ok(row) => Ok(Ok(tables.set_snapshot(row.key, snapshot)?)),
    }
}

/// The row of the run, if `lease` is its current lease and `fits` accepts its length.
fn check_length(
    tables: &dyn WriteTables,
    lease: &Lease,
    expected: u64,
    fits: impl Fn(u64) -> bool,
) -> RuleResult<RunRow, AppendError> {
    let run = || lease.run.clone();
    Ok(match check_lease(tables, lease)? {
        Err(by) => Err(AppendError::Fenced { run: run(), by }),
        Ok(row) if fits(row.state.len) => Ok(row),
        Ok(row) => Err(AppendError::Conflict { run: run(), len: row.state.len, expected }),
    })
}

/// The first of `consumed` that is not pending in the inbox, or that occurs twice.
fn first_not_pending(tables: &dyn WriteTables, key: RunKey, consumed: &[SignalId]) -> StoreResult<Option<SignalId>> {
    if consumed.is_empty() {
        return Ok(None);
    }
    let messages = tables.pending_messages(key, SignalId(0))?;
    let mut pending: BTreeSet<SignalId> = messages.iter().map(|message| message.id).collect();
    Ok(consumed.iter().find(|id| !pending.remove(id)).copied())
}
