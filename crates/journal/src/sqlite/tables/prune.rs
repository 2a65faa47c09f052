//! Rows of runs that ended and are pruned.

use reknit_protocol::RunId;
use rusqlite::{OptionalExtension as _, Row, params};

use super::{SELECT_RUN, SqliteTables, run_row};
use crate::error::storage::StoreResult;
use crate::retention::EndOrder;
use crate::tables::{RunKey, RunRow};
use crate::{PrunedRun, StoreSize};

/// The runs that may be pruned: the condition of the index `runs_ended`.
const PRUNABLE: &str = "status IS NOT NULL";

/// The tables with rows of a run, besides `runs` and `event_blobs`. All have a column `run` with its key.
const TABLES_OF_RUN: [&str; 8] =
    ["events", "due", "claims", "inbox", "snapshots", "endings", "run_requests", "run_spending"];

pub(super) fn first_ended(tables: &SqliteTables<'_>, limit: u32) -> StoreResult<Vec<RunRow>> {
    let sql = format!("{SELECT_RUN} WHERE {PRUNABLE} ORDER BY updated_ms, key LIMIT ?1");
    tables.0.prepare_cached(&sql)?.query_and_then([limit], run_row)?.collect()
}

pub(super) fn end_order_beyond(tables: &SqliteTables<'_>, keep: u64) -> StoreResult<Option<EndOrder>> {
    let sql = format!(
        "SELECT updated_ms, key FROM runs WHERE {PRUNABLE} ORDER BY updated_ms DESC, key DESC LIMIT 1 OFFSET ?1"
    );
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    Ok(tables.0.prepare_cached(&sql)?.query_row([keep], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

pub(super) fn ended_count(tables: &SqliteTables<'_>) -> StoreResult<u64> {
    let sql = format!("SELECT count(*) FROM runs WHERE {PRUNABLE}");
    Ok(tables.0.query_row(&sql, [], |row| row.get(0))?)
}

pub(super) fn ended_up_to(tables: &SqliteTables<'_>, (ended_ms, key): EndOrder) -> StoreResult<u64> {
    let sql = format!("SELECT count(*) FROM runs WHERE {PRUNABLE} AND (updated_ms, key) <= (?1, ?2)");
    Ok(tables.0.query_row(&sql, params![ended_ms, key], |row| row.get(0))?)
}

pub(super) fn size(tables: &SqliteTables<'_>) -> StoreResult<StoreSize> {
    let pragma = |name: &str| -> StoreResult<u64> {
        Ok(tables.0.prepare_cached(&format!("PRAGMA {name}"))?.query_row([], |row| row.get(0))?)
    };
    let (page, pages, free) = (pragma("page_size")?, pragma("page_count")?, pragma("freelist_count")?);
    Ok(StoreSize { used_bytes: pages.saturating_sub(free) * page, free_bytes: free * page })
}

pub(super) fn expired_keys(tables: &SqliteTables<'_>, until_ms: i64, limit: u32) -> StoreResult<Vec<String>> {
    let sql = "SELECT key FROM business_keys WHERE since_ms + window_ms <= ?1 LIMIT ?2";
    let mut statement = tables.0.prepare_cached(sql)?;
    statement.query_and_then(params![until_ms, limit], |row| Ok(row.get(0)?))?.collect()
}

pub(super) fn pruned_run(tables: &SqliteTables<'_>, run: &RunId) -> StoreResult<Option<PrunedRun>> {
    let sql = "SELECT run, request, status, ended_ms, pruned_ms FROM pruned_runs WHERE run = ?1";
    let read = |row: &Row<'_>| {
        Ok(PrunedRun {
            run: row.get::<_, String>(0)?.into(),
            request: row.get(1)?,
            status: row.get(2)?,
            ended_ms: row.get(3)?,
            pruned_ms: row.get(4)?,
        })
    };
    Ok(tables.0.prepare_cached(sql)?.query_row([run.as_str()], read).optional()?)
}

pub(super) fn add_pruned(tables: &SqliteTables<'_>, pruned: &PrunedRun) -> StoreResult<()> {
    let PrunedRun { run, request, status, ended_ms, pruned_ms } = pruned;
    let sql = "INSERT INTO pruned_runs (run, request, status, ended_ms, pruned_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    tables.0.prepare_cached(sql)?.execute(params![run.as_str(), request, status, ended_ms, pruned_ms])?;
    Ok(())
}

/// Removes all rows of a run, and the blobs that only it had. Returns how many.
pub(super) fn remove_run(tables: &SqliteTables<'_>, key: RunKey) -> StoreResult<u64> {
    let connection = tables.0;
    let sql = "SELECT DISTINCT digest FROM event_blobs WHERE run = ?1";
    let digests: Vec<String> =
        connection.prepare_cached(sql)?.query_map([key.0], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    connection.prepare_cached("DELETE FROM event_blobs WHERE run = ?1")?.execute([key.0])?;
    let blobs = remove_unused_blobs(tables, &digests)?;
    for table in TABLES_OF_RUN {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?.execute([key.0])?;
    }
    connection.prepare_cached("DELETE FROM runs WHERE key = ?1")?.execute([key.0])?;
    Ok(blobs)
}

/// Removes those of the blobs that belong to no text any more. Returns how many.
pub(super) fn remove_unused_blobs(tables: &SqliteTables<'_>, digests: &[String]) -> StoreResult<u64> {
    let mut removed = 0;
    for digest in digests {
        let sql = "DELETE FROM blobs WHERE digest = ?1 AND NOT EXISTS
            (SELECT 1 FROM event_blobs WHERE event_blobs.digest = ?1)";
        removed += tables.0.prepare_cached(sql)?.execute([digest])?;
    }
    Ok(removed as u64)
}

/// Gives at most `pages` unused pages back to the system. Returns the bytes.
pub(super) fn release_pages(tables: &SqliteTables<'_>, pages: u32) -> StoreResult<u64> {
    let before = size(tables)?;
    let mut statement = tables.0.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    // Each step moves one page.
    while rows.next()?.is_some() {}
    drop(rows);
    Ok(before.free_bytes.saturating_sub(size(tables)?.free_bytes))
}
