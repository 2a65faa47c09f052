//! Rules for pruning and deleting runs.

use reknit_protocol::RunId;

use super::RuleResult;
use super::lease::TakeOver;
use super::spending::settle_run;
use crate::error::storage::StoreResult;
use crate::holder::Processes;
use crate::retention::{PruneBatch, PruneLimit};
use crate::tables::{RunRow, WriteTables};
use crate::{DeleteError, PrunedRun, Retention, StorageError};

/// For how long business keys are kept after their window: the clock of another process may be behind.
const KEY_GRACE_MS: i64 = 24 * 60 * 60 * 1_000;

/// The status of a run that was deleted before it ended.
const UNFINISHED: &str = "unfinished";

/// Up to which run a pass prunes by age and number.
pub(crate) fn prune_limit(
    tables: &dyn crate::tables::ReadTables,
    retention: &Retention,
    now_ms: i64,
) -> StoreResult<PruneLimit> {
    let by_age = retention.max_age_ms.map(|age| (now_ms.saturating_sub_unsigned(age), i64::MAX));
    let by_number = match retention.max_runs {
        Some(keep) => tables.end_order_beyond(keep)?,
        None => None,
    };
    Ok(PruneLimit { up_to: by_age.max(by_number), max_bytes: retention.max_bytes })
}

/// Prunes at most `max_runs` runs, the ones that ended first.
pub(crate) fn prune(
    tables: &mut dyn WriteTables,
    limit: PruneLimit,
    now_ms: i64,
    max_runs: u32,
) -> RuleResult<PruneBatch, StorageError> {
    let oldest = tables.first_ended(max_runs)?;
    let is_full = oldest.len() == max_runs as usize;
    let mut batch = PruneBatch { runs: 0, blobs: 0, is_last: !is_full };
    for row in oldest {
        let is_over = limit.up_to.is_some_and(|up_to| (row.summary.updated_ms, row.key.0) <= up_to);
        if !is_over {
            let max_bytes = limit.max_bytes.unwrap_or(u64::MAX);
            if max_bytes == u64::MAX || tables.size()?.used_bytes <= max_bytes {
                batch.is_last = true;
                break;
            }
        }
        batch.blobs += remove(tables, row, now_ms)?;
        batch.runs += 1;
    }
    Ok(Ok(batch))
}

/// Removes a run and remembers its id. Returns how many blobs were removed with it.
fn remove(tables: &mut dyn WriteTables, row: RunRow, now_ms: i64) -> StoreResult<u64> {
    let RunRow { key, summary } = row;
    let request = tables.request_of(key)?;
    // What is still reserved for it counts as spent: nobody knows what its calls have cost.
    settle_run(tables, key, None)?;
    let blobs = tables.remove_run(key)?;
    tables.add_pruned(&PrunedRun {
        run: summary.run,
        request,
        status: summary.status.unwrap_or_else(|| UNFINISHED.to_owned()),
        ended_ms: summary.updated_ms,
        pruned_ms: now_ms,
    })?;
    Ok(blobs)
}

/// Before which time the window of a business key must have ended for it to be removed.
pub(crate) fn key_limit(now_ms: i64) -> i64 {
    now_ms.saturating_sub(KEY_GRACE_MS)
}

/// Removes those of the business keys whose window ended before `limit_ms`.
pub(crate) fn remove_expired_keys(
    tables: &mut dyn WriteTables,
    keys: &[String],
    limit_ms: i64,
) -> RuleResult<u64, StorageError> {
    let mut removed = 0;
    for key in keys {
        // Another call may have taken the key since it was listed.
        let is_expired = tables.business_key(key)?.is_some_and(|stored| stored.until_ms() <= limit_ms);
        if is_expired && tables.remove_business_key(key)? {
            removed += 1;
        }
    }
    Ok(Ok(removed))
}

/// Whether a run that has not ended may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// Only a run that has ended.
    Ended,
    /// Also one that has not, if no process drives it.
    Unfinished,
}

/// Deletes a run that no process drives.
pub(crate) fn delete(
    tables: &mut dyn WriteTables,
    run: &RunId,
    deletion: Deletion,
    processes: &dyn Processes,
    now_ms: i64,
) -> RuleResult<(), DeleteError> {
    let Some(row) = tables.run(run)? else { return Ok(Err(DeleteError::NoSuchRun(run.clone()))) };
    let take_over = TakeOver::ByLiveness(processes);
    if let Some(lease) = row.summary.lease.as_ref().filter(|lease| take_over.is_held(lease, now_ms)) {
        return Ok(Err(DeleteError::Held { run: run.clone(), holder: lease.holder.clone() }));
    }
    if deletion == Deletion::Ended && row.summary.status.is_none() {
        return Ok(Err(DeleteError::Unfinished(run.clone())));
    }
    remove(tables, row, now_ms)?;
    Ok(Ok(()))
}
