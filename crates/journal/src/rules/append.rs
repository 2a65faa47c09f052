//! Rules for appends and snapshots.

use std::collections::BTreeSet;

use super::lease::add_run;
use super::spending::settle_run;
use super::{RuleResult, check_lease, key};
use crate::blob::{SplitEvent, SplitText, split_event, split_text};
use crate::error::storage::{StoreFailure, StoreResult};
use crate::tables::{RunKey, RunRow, SplitSnapshot, WriteTables};
use crate::{Append, AppendError, Appended, CreateError, Holder, Lease, LeaseTerm, NewRun, RunSummary, SignalId};

/// The texts of an append. They are split before the store is locked, because splitting takes time.
pub(crate) struct SplitTexts {
    events: Vec<SplitEvent>,
    snapshot: Option<SplitSnapshot>,
    result: Option<SplitText>,
}

impl SplitTexts {
    /// Takes the texts out of the append.
    pub(crate) fn of(append: &mut Append) -> Self {
        let result = append.ending.as_mut().and_then(|ending| ending.result.take());
        Self {
            events: append.events.drain(..).map(split_event).collect(),
            snapshot: append.snapshot.take().map(SplitSnapshot::from),
            result: result.map(split_text),
        }
    }
}

/// Creates a run with all its events, or nothing. The texts of the events are given apart.
pub(crate) fn create(
    tables: &mut dyn WriteTables,
    new: &NewRun,
    (first, rest): (&SplitEvent, Option<&SplitTexts>),
    (holder, term): (&Holder, LeaseTerm),
) -> RuleResult<Lease, CreateError> {
    let lease = match add_run(tables, new, first, holder, term)? {
        Err(refused) => return Ok(Err(refused)),
        Ok(lease) => lease,
    };
    let Some((append_rest, texts)) = new.rest.as_ref().zip(rest) else { return Ok(Ok(lease)) };
    match append(tables, &lease, append_rest, texts)? {
        Ok(_) => Ok(Ok(lease)),
        // A failure, not a refusal: what was written is undone.
        Err(refused) => Err(StoreFailure::Contents(format!("a run with all its events cannot be stored: {refused}"))),
    }
}

/// Compare-and-append: writes all of `new`, or nothing.
pub(crate) fn append(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    new: &Append,
    texts: &SplitTexts,
) -> RuleResult<Appended, AppendError> {
    let SplitTexts { events, snapshot, result } = texts;
    let RunRow { key, summary: mut run } =
        match check_length(tables, lease, new.expected_len, |len| len == new.expected_len)? {
            Err(refused) => return Ok(Err(refused)),
            Ok(row) => row,
        };
    let len = run.len.saturating_add(u64::try_from(events.len()).unwrap_or(u64::MAX));
    if let Some(id) = first_not_pending(tables, key, &new.consumed)? {
        return Ok(Err(AppendError::SignalNotPending { run: lease.run.clone(), id }));
    }
    if let Some(snapshot) = snapshot.as_ref().filter(|snapshot| snapshot.len > len) {
        return Ok(Err(AppendError::Conflict { run: lease.run.clone(), len, expected: snapshot.len }));
    }
    for (seq, event) in (run.len..).zip(events) {
        tables.add_event(key, seq, event)?;
        run.updated_ms = event.event.at_ms;
    }
    for id in &new.consumed {
        tables.consume(key, *id, len)?;
    }
    if let Some(snapshot) = snapshot {
        tables.set_snapshot(key, snapshot)?;
    }
    for mapping in &new.learned_mappings {
        tables.set_learned_mapping(&mapping.of_owner(run.owner.as_deref()), run.updated_ms)?;
    }
    for key in &new.keys {
        key::change(tables, &run, key, run.updated_ms)?;
    }
    if let Some(ending) = &new.ending {
        run.status = Some(ending.status.clone());
        run.updated_ms = ending.at_ms;
        run.lease = None;
        settle_run(tables, key, ending.cost)?;
        // Nothing is restored from it any more.
        tables.remove_snapshot(key)?;
        if let Some(result) = result {
            tables.set_ending(key, len, result)?;
        }
    }
    run.parked = None;
    run.len = len;
    // After the events, which made the effects due, and after what they changed about business keys.
    let row = RunRow { key, summary: run };
    let mut claims = Vec::with_capacity(new.claims.len());
    for claim in &new.claims {
        claims.push(key::claim_effect(tables, lease, &row, claim)?);
    }
    tables.set_run(key, &row.summary)?;
    Ok(Ok(Appended { len, claims }))
}

/// Saves a snapshot of a state whose events are all committed.
pub(crate) fn save_snapshot(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    snapshot: &SplitSnapshot,
) -> RuleResult<(), AppendError> {
    match check_length(tables, lease, snapshot.len, |len| snapshot.len <= len)? {
        Err(refused) => Ok(Err(refused)),
        Ok(row) => Ok(Ok(tables.set_snapshot(row.key, snapshot)?)),
    }
}

/// Saves a snapshot and gives the lease back.
pub(crate) fn release_with(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    snapshot: &SplitSnapshot,
) -> RuleResult<(), AppendError> {
    match check_length(tables, lease, snapshot.len, |len| snapshot.len <= len)? {
        Err(refused) => Ok(Err(refused)),
        Ok(RunRow { key, summary }) => {
            tables.set_snapshot(key, snapshot)?;
            Ok(Ok(tables.set_run(key, &RunSummary { lease: None, ..summary })?))
        }
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
        Ok(row) if fits(row.summary.len) => Ok(row),
        Ok(row) => Err(AppendError::Conflict { run: run(), len: row.summary.len, expected }),
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
