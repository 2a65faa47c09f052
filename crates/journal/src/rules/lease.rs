//! Rules for leases.

use reknit_protocol::RunId;

use super::{RuleResult, check_lease, fenced, spending};
use crate::blob::SplitEvent;
use crate::error::storage::{StoreFailure, StoreResult};
use crate::holder::Processes;
use crate::tables::{RunKey, WriteTables};
use crate::{
    CreateError, FenceError, Holder, Lease, LeaseError, LeaseInfo, LeaseTerm, Liveness, NewRun, Reopening, RunSummary,
};

/// Creates the run, event 0 and the first lease.
pub(crate) fn add_run(
    tables: &mut dyn WriteTables,
    new: &NewRun,
    first: &SplitEvent,
    holder: &Holder,
    term: LeaseTerm,
) -> RuleResult<Lease, CreateError> {
    let NewRun { run, title, request, owner, reservation, .. } = new;
    if tables.run(run)?.is_some() {
        return Ok(Err(CreateError::Exists(run.clone())));
    }
    if let Some(pruned) = tables.pruned_run(run)? {
        return Ok(Err(CreateError::Pruned(Box::new(pruned))));
    }
    if let Some(reservation) = reservation
        && let Err(refused) = spending::check(tables, reservation)?
    {
        return Ok(Err(CreateError::OverBudget(refused)));
    }
    let at_ms = first.event.at_ms;
    let info = LeaseInfo { holder: holder.clone(), until_ms: term.until_ms(), epoch: 1 };
    let summary = RunSummary {
        run: run.clone(),
        title: title.clone(),
        owner: owner.clone(),
        created_ms: at_ms,
        updated_ms: at_ms,
        status: None,
        len: 1,
        epoch: info.epoch,
        lease: Some(info.clone()),
        parked: None,
    };
    let key = tables.add_run(&summary, request)?;
    tables.add_event(key, 0, first)?;
    if let Some(reservation) = reservation
        && let Err(refused) = spending::reserve_for_run(tables, key, reservation, 0)?
    {
        // It was checked before the first write.
        return Err(StoreFailure::Contents(refused.to_string()));
    }
    Ok(Ok(Lease { run: run.clone(), info }))
}

/// From whom a run may be taken over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TakeOver<'a> {
    Expired,
    /// Also from the holder of the lease with this epoch.
    Epoch(u64),
    /// From a process that is dead, or whose lease has expired. Never from another process that is alive.
    ByLiveness(&'a dyn Processes),
}

impl TakeOver<'_> {
    pub(super) fn is_held(self, lease: &LeaseInfo, now_ms: i64) -> bool {
        let in_time = now_ms < lease.until_ms;
        match self {
            Self::Expired => in_time,
            Self::Epoch(epoch) => in_time && lease.epoch != epoch,
            Self::ByLiveness(processes) => match processes.liveness(&lease.holder) {
                Liveness::Dead => false,
                // Another driver of this process may be gone although the process is alive.
                Liveness::Alive => in_time || !processes.is_this(&lease.holder),
                Liveness::Unknown => in_time,
            },
        }
    }
}

/// Leases a run that has no lease, or whose lease may be taken over.
pub(crate) fn acquire(
    tables: &mut dyn WriteTables,
    run: &RunId,
    holder: &Holder,
    term: LeaseTerm,
    take_over: TakeOver<'_>,
) -> RuleResult<Lease, LeaseError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(LeaseError::NoSuchRun(run.clone()))) };
    let mut summary = row.summary;
    if let Some(status) = summary.status {
        return Ok(Err(LeaseError::Ended { run: run.clone(), status }));
    }
    if let Some(lease) = summary.lease.take_if(|lease| take_over.is_held(lease, term.now_ms)) {
        let LeaseInfo { holder, until_ms, epoch } = lease;
        return Ok(Err(LeaseError::Held { run: run.clone(), holder, until_ms, epoch }));
    }
    Ok(Ok(give(tables, row.key, summary, holder, term)?))
}

/// Leases a run that has ended, so that it goes on.
pub(crate) fn reopen(
    tables: &mut dyn WriteTables,
    run: &RunId,
    holder: &Holder,
    term: LeaseTerm,
    reopening: &Reopening,
) -> RuleResult<Lease, LeaseError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(LeaseError::NoSuchRun(run.clone()))) };
    let mut summary = row.summary;
    if summary.status.is_none() || summary.len != reopening.expected_len {
        return Ok(Err(LeaseError::NotEnded(run.clone())));
    }
    if let Err(refused) = spending::change_payer(tables, row.key, reopening)? {
        return Ok(Err(LeaseError::OverBudget(refused)));
    }
    summary.status = None;
    Ok(Ok(give(tables, row.key, summary, holder, term)?))
}

/// Gives the run to a holder, under the next epoch.
fn give(
    tables: &mut dyn WriteTables,
    key: RunKey,
    mut summary: RunSummary,
    holder: &Holder,
    term: LeaseTerm,
) -> StoreResult<Lease> {
    summary.epoch += 1;
    let info = LeaseInfo { holder: holder.clone(), until_ms: term.until_ms(), epoch: summary.epoch };
    summary.lease = Some(info.clone());
    tables.set_run(key, &summary)?;
    Ok(Lease { run: summary.run, info })
}

/// Extends the lease to the end of `term`.
pub(crate) fn renew(tables: &mut dyn WriteTables, lease: &Lease, term: LeaseTerm) -> RuleResult<Lease, FenceError> {
    let info = LeaseInfo { until_ms: term.until_ms(), ..lease.info.clone() };
    let set = change(tables, lease, |run| run.lease = Some(info.clone()))?;
    Ok(set.map(|()| Lease { run: lease.run.clone(), info }))
}

/// Gives the lease back.
pub(crate) fn release(tables: &mut dyn WriteTables, lease: &Lease) -> RuleResult<(), FenceError> {
    change(tables, lease, |run| run.lease = None)
}

/// Marks the run as parked and gives the lease back.
pub(crate) fn park(tables: &mut dyn WriteTables, lease: &Lease, reason: &str) -> RuleResult<(), FenceError> {
    change(tables, lease, |run| (run.lease, run.parked) = (None, Some(reason.to_owned())))
}

/// Changes a run, if `lease` is its current lease.
fn change(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    change: impl FnOnce(&mut RunSummary),
) -> RuleResult<(), FenceError> {
    let mut row = match check_lease(tables, lease)? {
        Err(by) => return Ok(Err(fenced(&lease.run, by))),
        Ok(row) => row,
    };
    change(&mut row.summary);
    Ok(Ok(tables.set_run(row.key, &row.summary)?))
}
