//! Rows of business keys.

use rusqlite::{OptionalExtension as _, Row, params};

use super::SqliteTables;
use crate::blob::digest;
use crate::error::storage::{StoreFailure, StoreResult};
use crate::{KeyClaim, StoredKey};

const SELECT: &str =
    "SELECT key, capability, key_values, window_ms, run, step, since_ms, receipt, digest FROM business_keys";

pub(super) fn find(tables: &SqliteTables<'_>, key: &str) -> StoreResult<Option<StoredKey>> {
    let mut statement = tables.0.prepare_cached(&format!("{SELECT} WHERE key = ?1"))?;
    statement.query_row([key], |row| Ok(read(row))).optional()?.transpose()
}

pub(super) fn all(tables: &SqliteTables<'_>) -> StoreResult<Vec<StoredKey>> {
    let mut statement = tables.0.prepare_cached(&format!("{SELECT} ORDER BY since_ms DESC, key"))?;
    statement.query_and_then([], read)?.collect()
}

pub(super) fn set(tables: &SqliteTables<'_>, key: &StoredKey) -> StoreResult<()> {
    let StoredKey { claim, run, since_ms, receipt } = key;
    let KeyClaim { key: name, capability, values, window_ms, step } = claim;
    let sql = "INSERT OR REPLACE INTO business_keys
        (key, capability, key_values, window_ms, run, step, since_ms, receipt, digest)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let window_ms = window_column(*window_ms);
    let values = params![name, capability, values, window_ms, run.as_str(), step, since_ms, receipt, digest_of(key)];
    tables.0.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

pub(super) fn remove(tables: &SqliteTables<'_>, key: &str) -> StoreResult<bool> {
    Ok(tables.0.prepare_cached("DELETE FROM business_keys WHERE key = ?1")?.execute([key])? > 0)
}

fn read(row: &Row<'_>) -> StoreResult<StoredKey> {
    let claim = KeyClaim {
        key: row.get(0)?,
        capability: row.get(1)?,
        values: row.get(2)?,
        window_ms: row.get(3)?,
        step: row.get(5)?,
    };
    let run: String = row.get(4)?;
    let key = StoredKey { claim, run: run.into(), since_ms: row.get(6)?, receipt: row.get(7)? };
    if digest_of(&key) == row.get::<_, String>(8)? {
        return Ok(key);
    }
    // A wrong receipt would be taken for a deed that was never done.
    Err(StoreFailure::Contents(format!("the business key `{}` was changed", key.claim.key)))
}

/// The column holds at most `i64::MAX`: a longer window never ends either.
fn window_column(window_ms: u64) -> i64 {
    i64::try_from(window_ms).unwrap_or(i64::MAX)
}

fn digest_of(key: &StoredKey) -> String {
    let StoredKey { claim: KeyClaim { key, capability, values, window_ms, step }, run, since_ms, receipt } = key;
    let receipt = receipt.as_ref().map_or_else(String::new, |receipt| format!("receipt {receipt}"));
    let (window, since) = (window_column(*window_ms).to_string(), since_ms.to_string());
    let columns = [key, capability, values, &window, run.as_str(), step, &since, &receipt];
    // The lengths keep apart what belongs to different columns.
    digest(&columns.map(|column| format!("{}:{column}", column.len())).concat())
}
