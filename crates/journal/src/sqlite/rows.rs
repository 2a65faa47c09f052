//! The tables as rows. Every statement is prepared once per connection.

mod read;
mod write;

use rusqlite::{Connection, Row};

use crate::error::storage::{Failure, Stored};
use crate::tables::{RunKey, RunRow, RunState};

/// The tables, seen through an open transaction.
pub(crate) struct Rows<'c>(pub(crate) &'c Connection);

/// What [`run_row`] reads, in this order.
const RUN: &str = "SELECT key, run, title, created_ms, updated_ms, status, len, epoch, holder, until_ms FROM runs";

fn run_row(row: &Row<'_>) -> Stored<RunRow> {
    let lease = match (row.get::<_, Option<String>>(8)?, row.get(9)?) {
        (Some(holder), Some(until_ms)) => {
            let unread = |error| Failure::Contents(format!("who holds a run cannot be read: {error}"));
            Some((serde_json::from_str(&holder).map_err(unread)?, until_ms))
        }
        _ => None,
    };
    Ok(RunRow {
        key: RunKey(row.get(0)?),
        run: row.get::<_, String>(1)?.into(),
        title: row.get(2)?,
        created_ms: row.get(3)?,
        state: RunState { updated_ms: row.get(4)?, status: row.get(5)?, len: row.get(6)?, epoch: row.get(7)?, lease },
    })
}
