//! What may be written, decided once for all stores: every check comes before the first write.
//!
//! Each rule gives `Ok(Ok(..))` if it wrote, `Ok(Err(..))` if it refused and wrote nothing, and `Err(..)` if the store
//! failed; then the store undoes what was written.

mod append;
mod lease;

pub(crate) use append::{Prepared, append, save_snapshot};
pub(crate) use lease::{Opening, acquire, create, release, renew};

use reknit_protocol::RunId;

use crate::error::storage::Stored;
use crate::tables::{RunRow, Tables};
use crate::{Claim, FenceError, Holder, Lease, SendError, Signal, SignalId};

/// The store's failure outside, the rule's refusal inside.
pub(crate) type Verdict<T, E> = Stored<Result<T, E>>;

/// The run, if `lease` is its newest lease and not given back.
fn fenced(tables: &dyn Tables, lease: &Lease) -> Stored<Result<RunRow, Option<Holder>>> {
    let Some(row) = tables.run(&lease.run)? else { return Ok(Err(None)) };
    match &row.state.lease {
        Some(_) if row.state.epoch == lease.epoch => Ok(Ok(row)),
        Some((holder, _)) => Ok(Err(Some(holder.clone()))),
        None => Ok(Err(None)),
    }
}

fn lost(run: &RunId, by: Option<Holder>) -> FenceError {
    FenceError::Fenced { run: run.clone(), by }
}

/// Claims an effect, forever.
pub(crate) fn claim(tables: &mut dyn Tables, lease: &Lease, effect: &str) -> Verdict<Claim, FenceError> {
    match fenced(tables, lease)? {
        Err(by) => Ok(Err(lost(&lease.run, by))),
        Ok(row) => Ok(Ok(tables.add_claim(row.key, effect, lease.epoch)?)),
    }
}

/// Puts a signal into the inbox of a run that has not ended.
pub(crate) fn send(tables: &mut dyn Tables, run: &RunId, signal: &Signal, now_ms: i64) -> Verdict<SignalId, SendError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(SendError::NoSuchRun { run: run.clone() })) };
    if let Some(status) = row.state.status {
        return Ok(Err(SendError::Ended { run: run.clone(), status }));
    }
    Ok(Ok(tables.add_signal(row.key, signal, now_ms)?))
}
