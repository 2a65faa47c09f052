//! The rules of what may be written, shared by both stores. Every check comes before the first write.
//!
//! Each rule returns `Ok(Ok(..))` if it wrote, `Ok(Err(..))` if it refused and wrote nothing, and `Err(..)` if the store
//! failed; then the store undoes what the rule had written.

mod append;
mod key;
mod lease;
mod prune;
mod spending;

pub(crate) use append::{SplitTexts, append, create, release_with, save_snapshot};
pub(crate) use key::claim_with_key;
pub(crate) use lease::{TakeOver, acquire, park, release, renew, reopen};

pub(crate) use spending::{reserve, settle};

pub use prune::Deletion;
pub(crate) use prune::{delete, key_limit, prune, prune_limit, remove_expired_keys};

use reknit_protocol::RunId;

use crate::checked_events::events_of_kind;
use crate::error::storage::StoreResult;
use crate::tables::{RunRow, WriteTables};
use crate::{ClaimOutcome, EarlierSignal, EventsOfKind, FenceError, Holder, Lease, RunSignal, SendError, SignalId};

/// The store's failure outside, the rule's refusal inside.
pub(crate) type RuleResult<T, E> = StoreResult<Result<T, E>>;

/// The row of the run if `lease` is its current lease; otherwise the current holder, if there is one.
fn check_lease(tables: &dyn WriteTables, lease: &Lease) -> RuleResult<RunRow, Option<Holder>> {
    let Some(row) = tables.run(&lease.run)? else { return Ok(Err(None)) };
    match &row.summary.lease {
        Some(current) if current.epoch == lease.info.epoch => Ok(Ok(row)),
        Some(current) => Ok(Err(Some(current.holder.clone()))),
        None => Ok(Err(None)),
    }
}

fn fenced(run: &RunId, by: Option<Holder>) -> FenceError {
    FenceError::Fenced { run: run.clone(), by }
}

/// Claims an effect, forever.
pub(crate) fn claim(tables: &mut dyn WriteTables, lease: &Lease, effect: &str) -> RuleResult<ClaimOutcome, FenceError> {
    match check_lease(tables, lease)? {
        Err(by) => Ok(Err(fenced(&lease.run, by))),
        Ok(row) => Ok(Ok(tables.add_claim(row.key, row.summary.len, effect, lease.info.epoch)?)),
    }
}

/// Puts a signal into the inbox of a run that has not ended.
pub(crate) fn send(
    tables: &mut dyn WriteTables,
    run: &RunId,
    signal: &RunSignal,
    now_ms: i64,
) -> RuleResult<SignalId, SendError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(SendError::NoSuchRun(run.clone()))) };
    if let Some(status) = row.summary.status {
        return Ok(Err(SendError::Ended { run: run.clone(), status }));
    }
    Ok(Ok(tables.add_signal(row.key, signal, now_ms)?))
}

/// Puts a signal into the inbox of a run, unless the run has read one about the same, or one waits there.
pub(crate) fn send_once(
    tables: &mut dyn WriteTables,
    run: &RunId,
    signal: &RunSignal,
    now_ms: i64,
    read: Option<EventsOfKind>,
    is_same: &dyn Fn(&EarlierSignal) -> bool,
) -> RuleResult<Result<SignalId, EarlierSignal>, SendError> {
    if let Some(row) = tables.run(run)? {
        let read = read.map_or(Ok(Vec::new()), |read| events_of_kind(tables, &row, read))?;
        let waiting = tables.pending_messages(row.key, SignalId(0))?;
        let read = read.into_iter().map(EarlierSignal::Read);
        if let Some(earlier) = read.chain(waiting.into_iter().map(EarlierSignal::Waiting)).find(is_same) {
            return Ok(Ok(Err(earlier)));
        }
    }
    Ok(send(tables, run, signal, now_ms)?.map(Ok))
}
