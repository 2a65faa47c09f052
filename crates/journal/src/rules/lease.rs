//! Who may drive a run.

use reknit_protocol::RunId;

use super::{Verdict, fenced, lost};
use crate::blob::Folded;
use crate::tables::{RunState, Tables};
use crate::{CreateError, FenceError, Holder, Lease, LeaseError, Term};

/// A run to be created, with its event folded.
pub(crate) struct Opening {
    pub(crate) run: RunId,
    pub(crate) title: String,
    pub(crate) first: Folded,
}

/// Creates the run, event 0 and the first lease.
pub(crate) fn create(
    tables: &mut dyn Tables,
    opening: &Opening,
    holder: &Holder,
    term: Term,
) -> Verdict<Lease, CreateError> {
    let Opening { run, title, first } = opening;
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

/// Leases a run that nobody holds, whose term has passed, or whose lease is the one of epoch `from`.
pub(crate) fn acquire(
    tables: &mut dyn Tables,
    run: &RunId,
    holder: &Holder,
    term: Term,
    from: Option<u64>,
) -> Verdict<Lease, LeaseError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(LeaseError::NoSuchRun { run: run.clone() })) };
    let mut state = row.state;
    if let Some(status) = state.status {
        return Ok(Err(LeaseError::Ended { run: run.clone(), status }));
    }
    if let Some((holder, until_ms)) = state.lease
        && term.now_ms < until_ms
        && from != Some(state.epoch)
    {
        return Ok(Err(LeaseError::Held { run: run.clone(), holder, until_ms, epoch: state.epoch }));
    }
    state.epoch += 1;
    let lease = Lease { run: run.clone(), epoch: state.epoch, holder: holder.clone(), until_ms: term.until_ms() };
    state.lease = Some((lease.holder.clone(), lease.until_ms));
    tables.set_run(row.key, &state)?;
    Ok(Ok(lease))
}

/// Moves the end of the term.
pub(crate) fn renew(tables: &mut dyn Tables, lease: &Lease, term: Term) -> Verdict<Lease, FenceError> {
    let mut row = match fenced(tables, lease)? {
        Err(by) => return Ok(Err(lost(&lease.run, by))),
        Ok(row) => row,
    };
    let renewed = Lease { until_ms: term.until_ms(), ..lease.clone() };
    row.state.lease = Some((renewed.holder.clone(), renewed.until_ms));
    tables.set_run(row.key, &row.state)?;
    Ok(Ok(renewed))
}

/// Gives the lease back.
pub(crate) fn release(tables: &mut dyn Tables, lease: &Lease) -> Verdict<(), FenceError> {
    let mut row = match fenced(tables, lease)? {
        Err(by) => return Ok(Err(lost(&lease.run, by))),
        Ok(row) => row,
    };
    row.state.lease = None;
    tables.set_run(row.key, &row.state)?;
    Ok(Ok(()))
}
