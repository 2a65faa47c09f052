//! Rows of what owners spend.

use rusqlite::{OptionalExtension as _, params};

use super::SqliteTables;
use crate::Spending;
use crate::error::storage::StoreResult;
use crate::spending::RunSpending;
use crate::tables::RunKey;

pub(super) fn find(tables: &SqliteTables<'_>, account: &str, month: &str) -> StoreResult<Spending> {
    let sql = "SELECT spent, reserved FROM spending WHERE account = ?1 AND month = ?2";
    let read = |row: &rusqlite::Row<'_>| Ok(Spending { spent: row.get(0)?, reserved: row.get(1)? });
    Ok(tables.0.prepare_cached(sql)?.query_row([account, month], read).optional()?.unwrap_or_default())
}

pub(super) fn set(tables: &SqliteTables<'_>, account: &str, month: &str, spending: Spending) -> StoreResult<()> {
    let sql = "INSERT OR REPLACE INTO spending (account, month, spent, reserved) VALUES (?1, ?2, ?3, ?4)";
    let (spent, reserved) = (column(spending.spent), column(spending.reserved));
    tables.0.prepare_cached(sql)?.execute(params![account, month, spent, reserved])?;
    Ok(())
}

pub(super) fn of_run(tables: &SqliteTables<'_>, key: RunKey) -> StoreResult<Option<RunSpending>> {
    let sql = "SELECT account, month, reserved, counted FROM run_spending WHERE run = ?1";
    let read = |row: &rusqlite::Row<'_>| {
        let (account, month) = (row.get(0)?, row.get(1)?);
        Ok(RunSpending { account, month, reserved: row.get(2)?, counted: row.get(3)? })
    };
    Ok(tables.0.prepare_cached(sql)?.query_row([key.0], read).optional()?)
}

pub(super) fn set_of_run(tables: &SqliteTables<'_>, key: RunKey, run: Option<&RunSpending>) -> StoreResult<()> {
    let Some(RunSpending { account, month, reserved, counted }) = run else {
        tables.0.prepare_cached("DELETE FROM run_spending WHERE run = ?1")?.execute([key.0])?;
        return Ok(());
    };
    let sql =
        "INSERT OR REPLACE INTO run_spending (run, account, month, reserved, counted) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![key.0, account, month, column(*reserved), column(*counted)];
    tables.0.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// A column holds at most `i64::MAX`.
fn column(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
