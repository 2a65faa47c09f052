//! Rows of business keys.

use rusqlite::Row;

use crate::blob::digest;
use crate::error::storage::{StoreFailure, StoreResult};
use crate::{KeyClaim, StoredKey};

pub(super) const SELECT: &str =
    "SELECT key, capability, key_values, window_ms, run, step, since_ms, receipt, digest FROM business_keys";

pub(super) fn read(row: &Row<'_>) -> StoreResult<StoredKey> {
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
pub(super) fn window_column(window_ms: u64) -> i64 {
    i64::try_from(window_ms).unwrap_or(i64::MAX)
}

pub(super) fn digest_of(key: &StoredKey) -> String {
    let StoredKey { claim: KeyClaim { key, capability, values, window_ms, step }, run, since_ms, receipt } = key;
    let receipt = receipt.as_ref().map_or_else(String::new, |receipt| format!("receipt {receipt}"));
    let (window, since) = (window_column(*window_ms).to_string(), since_ms.to_string());
    let columns = [key, capability, values, &window, run.as_str(), step, &since, &receipt];
    // The lengths keep apart what belongs to different columns.
    digest(&columns.map(|column| format!("{}:{column}", column.len())).concat())
}
