//! Rules for leases.

use reknit_protocol::RunId;

use super::{RuleResult, check_lease, fenced};
use crate::blob::SplitEvent;
use crate::tables::{RunState, WriteTables};
use crate::{CreateError, FenceError, Holder, Lease, LeaseError, LeaseTerm};

/// A run to create, with its event already split.
pub(crate) struct PreparedRun {
    pub(crate) run: RunId,
    pub(crate) title: String,
    pub(crate) first: SplitEvent,
}

/// Creates the run, event 0 and the first lease.
pub(crate) fn create(
    tables: &mut dyn WriteTables,
    new: &PreparedRun,
    holder: &Holder,
    term: LeaseTerm,
) -> RuleResult<Lease, CreateError> {
    let PreparedRun { run, title, first } = new;
    if tables.run(run)?.is_some() {
        return Ok(Err(CreateError::Exists { run: run.clone() }));
    }
    let lease = Lease { run: run.clone(), epoch: 1, holder: holder.clone(), until_ms: term.until_ms() };
    let at_ms = first.event.at_ms;
    let state = RunState {
        updated_ms: at_ms,
        status: None,
        len: 1,
        epoch: lease.epoch,
        lease: Some((lease.holder.clone(), lease.until_ms)),
    };
    let key = tables.add_run(run, title, at_ms, &state)?;
    tables.add_event(key, 0, first)?;
    Ok(Ok(lease))
}

/// Leases a run that has no lease, whose lease has expired, or whose lease has the epoch `forced_epoch`.
pub(crate) fn acquire(
    tables: &mut dyn WriteTables,
    run: &RunId,
    holder: &Holder,
    term: LeaseTerm,
    forced_epoch: Option<u64>,
) -> RuleResult<Lease, LeaseError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(LeaseError::NoSuchRun { run: run.clone() })) };
    let mut state = row.state;
    if let Some(status) = state.status {
        return Ok(Err(LeaseError::Ended { run: run.clone(), status }));
    }
    if let Some((holder, until_ms)) = state.lease
        && term.now_ms < until_ms
        && forced_epoch != Some(state.epoch)
    {
        return Ok(Err(LeaseError::Held { run: run.clone(), holder, until_ms, epoch: state.epoch }));
    }
    state.epoch += 1;
    let lease = Lease { run: run.clone(), epoch: state.epoch, holder: holder.clone(), until_ms: term.until_ms() };
    state.lease = Some((lease.holder.clone(), lease.until_ms));
    tables.set_run(row.key, &state)?;
    Ok(Ok(lease))
}

/// Extends the lease to the end of `term`.
pub(crate) fn renew(tables: &mut dyn WriteTables, lease: &Lease, term: LeaseTerm) -> RuleResult<Lease, FenceError> {
    let renewed = Lease { until_ms: term.until_ms(), ..lease.clone() };
    let set = set_lease(tables, lease, Some((renewed.holder.clone(), renewed.until_ms)))?;
    Ok(set.map(|()| renewed))
}

/// Gives the lease back.
pub(crate) fn release(tables: &mut dyn WriteTables, lease: &Lease) -> RuleResult<(), FenceError> {
    set_lease(tables, lease, None)
}

/// Replaces `lease`, if it is the current lease of its run.
fn set_lease(tables: &mut dyn WriteTables, lease: &Lease, new: Option<(Holder, i64)>) -> RuleResult<(), FenceError> {
    let mut row = match check_lease(tables, lease)? {
        Err(by) => return Ok(Err(fenced(&lease.run, by))),
        Ok(row) => row,
    };
    row.state.lease = new;
    Ok(Ok(tables.set_run(row.key, &row.state)?))
}
