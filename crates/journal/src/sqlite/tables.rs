//! The tables as rows of `SQLite`. Each connection prepares each statement once.

mod business_key;
mod read;
mod write;

use rusqlite::{Connection, Row};

use crate::error::storage::{StoreFailure, StoreResult};
use crate::tables::{RunKey, RunRow};
use crate::{LeaseInfo, RunSummary};

/// The tables, inside an open transaction.
pub(crate) struct SqliteTables<'c>(pub(crate) &'c Connection);

/// The `seq` in `event_blobs` of the blobs of an ending.
const ENDING_SEQ: i64 = -1;
/// The `seq` in `event_blobs` of the blobs of a snapshot.
const SNAPSHOT_SEQ: i64 = -2;

/// Selects the columns that [`run_row`] reads, in its order.
const SELECT_RUN: &str =
    "SELECT key, run, title, created_ms, updated_ms, status, len, epoch, holder, until_ms, parked, owner FROM runs";

fn run_row(row: &Row<'_>) -> StoreResult<RunRow> {
    let epoch = row.get(7)?;
    let lease = match (row.get::<_, Option<String>>(8)?, row.get(9)?) {
        (Some(holder), Some(until_ms)) => {
            let unreadable = |error| StoreFailure::Contents(format!("cannot read the holder of a run: {error}"));
            Some(LeaseInfo { holder: serde_json::from_str(&holder).map_err(unreadable)?, until_ms, epoch })
        }
        _ => None,
    };
    let summary = RunSummary {
        run: row.get::<_, String>(1)?.into(),
        title: row.get(2)?,
        owner: row.get(11)?,
        created_ms: row.get(3)?,
        updated_ms: row.get(4)?,
        status: row.get(5)?,
        len: row.get(6)?,
        epoch,
        lease,
        parked: row.get(10)?,
    };
    Ok(RunRow { key: RunKey(row.get(0)?), summary })
}
