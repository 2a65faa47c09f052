//! Writing rows of `SQLite`.

use rusqlite::{Params, params};

use super::super::chain::{EventContent, RowDigest, claim_digest, event_digest, text_digest};
use super::business_key::{digest_of, window_column};
use super::{ENDING_SEQ, SNAPSHOT_SEQ, SqliteTables};
use crate::blob::{Blob, SplitEvent, SplitText};
use crate::error::storage::{StoreFailure, StoreResult};
use crate::spending::RunSpending;
use crate::tables::{ReadTables as _, RunKey, SplitSnapshot, WriteTables};
use crate::{ClaimOutcome, KeyClaim, PrunedRun, RunSignal, RunSummary, SignalId, Spending, StoredKey, StoredMapping};

impl SqliteTables<'_> {
    /// Returns how many rows changed.
    fn execute(&self, sql: &str, params: impl Params) -> StoreResult<usize> {
        Ok(self.0.prepare_cached(sql)?.execute(params)?)
    }

    fn add_blobs(&self, key: RunKey, seq: i64, blobs: &[Blob]) -> StoreResult<()> {
        for (ordinal, blob) in blobs.iter().enumerate() {
            self.execute(
                "INSERT INTO blobs (digest, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![blob.digest, blob.text],
            )?;
            self.execute(
                "INSERT INTO event_blobs (run, seq, ordinal, offset, digest, size) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![key.0, seq, ordinal, blob.offset, blob.digest, blob.text.len()],
            )?;
        }
        Ok(())
    }

    /// Detaches the blobs of an ending or a snapshot from their run. Returns their digests.
    fn detach_blobs(&self, key: RunKey, seq: i64) -> StoreResult<Vec<String>> {
        let sql = "DELETE FROM event_blobs WHERE run = ?1 AND seq = ?2 RETURNING digest";
        let mut statement = self.0.prepare_cached(sql)?;
        let digests = statement.query_map(params![key.0, seq], |row| row.get(0))?;
        Ok(digests.collect::<rusqlite::Result<_>>()?)
    }

    /// Removes those of the blobs that belong to no text any more. Returns how many.
    fn remove_unused_blobs(&self, digests: &[String]) -> StoreResult<u64> {
        let mut removed = 0;
        for digest in digests {
            let sql = "DELETE FROM blobs WHERE digest = ?1 AND NOT EXISTS
                (SELECT 1 FROM event_blobs WHERE event_blobs.digest = ?1)";
            removed += self.execute(sql, [digest])?;
        }
        Ok(removed as u64)
    }

    /// Replaces the blobs of an ending or a snapshot. Returns the digest of the text.
    fn replace_blobs(&self, key: RunKey, seq: i64, len: u64, text: &SplitText) -> StoreResult<RowDigest> {
        let old = self.detach_blobs(key, seq)?;
        self.add_blobs(key, seq, &text.blobs)?;
        self.remove_unused_blobs(&old)?;
        let blobs = text.blobs.iter().map(|blob| (blob.offset, blob.digest.as_str()));
        Ok(text_digest(&self.chain_before(key, len)?, &text.rest, blobs))
    }
}

/// The columns `holder` and `until_ms`.
fn lease_columns(run: &RunSummary) -> StoreResult<(Option<String>, Option<i64>)> {
    let Some(lease) = &run.lease else { return Ok((None, None)) };
    let unwritable = |error| StoreFailure::Contents(format!("cannot write the holder of a run: {error}"));
    Ok((Some(serde_json::to_string(&lease.holder).map_err(unwritable)?), Some(lease.until_ms)))
}

/// The tables with rows of a run, besides `runs` and `event_blobs`. All have a column `run` with its key.
const TABLES_OF_RUN: [&str; 8] =
    ["events", "due", "claims", "inbox", "snapshots", "endings", "run_requests", "run_spending"];

impl WriteTables for SqliteTables<'_> {
    fn add_run(&mut self, summary: &RunSummary, request: &str) -> StoreResult<RunKey> {
        let (holder, until_ms) = lease_columns(summary)?;
        let RunSummary { run, title, owner, created_ms, updated_ms, status, len, epoch, lease: _, parked } = summary;
        self.execute(
            "INSERT INTO runs (run, title, created_ms, updated_ms, status, len, epoch, holder, until_ms, parked, owner)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![run.as_str(), title, created_ms, updated_ms, status, len, epoch, holder, until_ms, parked, owner],
        )?;
        let key = RunKey(self.0.last_insert_rowid());
        self.execute("INSERT INTO run_requests (run, digest) VALUES (?1, ?2)", params![key.0, request])?;
        Ok(key)
    }

    fn remove_run(&mut self, key: RunKey) -> StoreResult<u64> {
        let connection = self.0;
        let sql = "SELECT DISTINCT digest FROM event_blobs WHERE run = ?1";
        let digests: Vec<String> =
            connection.prepare_cached(sql)?.query_map([key.0], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        connection.prepare_cached("DELETE FROM event_blobs WHERE run = ?1")?.execute([key.0])?;
        let blobs = self.remove_unused_blobs(&digests)?;
        for table in TABLES_OF_RUN {
            connection.prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?.execute([key.0])?;
        }
        connection.prepare_cached("DELETE FROM runs WHERE key = ?1")?.execute([key.0])?;
        Ok(blobs)
    }

    fn add_pruned(&mut self, pruned: &PrunedRun) -> StoreResult<()> {
        let PrunedRun { run, request, status, ended_ms, pruned_ms } = pruned;
        let sql = "INSERT INTO pruned_runs (run, request, status, ended_ms, pruned_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, params![run.as_str(), request, status, ended_ms, pruned_ms])?;
        Ok(())
    }

    fn release_pages(&mut self, pages: u32) -> StoreResult<u64> {
        let before = self.size()?;
        let mut statement = self.0.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut rows = statement.query([])?;
        // Each step moves one page.
        while rows.next()?.is_some() {}
        drop(rows);
        Ok(before.free_bytes.saturating_sub(self.size()?.free_bytes))
    }

    fn set_run(&mut self, key: RunKey, run: &RunSummary) -> StoreResult<()> {
        let (holder, until_ms) = lease_columns(run)?;
        self.execute(
            "UPDATE runs SET updated_ms = ?2, status = ?3, len = ?4, epoch = ?5, holder = ?6, until_ms = ?7,
             parked = ?8 WHERE key = ?1",
            params![key.0, run.updated_ms, run.status, run.len, run.epoch, holder, until_ms, run.parked],
        )?;
        Ok(())
    }

    fn add_event(&mut self, key: RunKey, seq: u64, event: &SplitEvent) -> StoreResult<()> {
        let SplitEvent { event, blobs } = event;
        let previous = self.chain_before(key, seq)?;
        let content = EventContent {
            at_ms: event.at_ms,
            kind: &event.kind,
            body: &event.body,
            due: &event.due.iter().map(|due| (due.effect.as_str(), due.digest.as_str())).collect::<Vec<_>>(),
            blobs: &blobs.iter().map(|blob| (blob.offset as u64, blob.digest.as_str())).collect::<Vec<_>>(),
            claims: &self.claim_digests(key, seq)?,
        };
        self.execute(
            "INSERT INTO events (run, seq, at_ms, kind, body, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![key.0, seq, event.at_ms, event.kind, event.body, event_digest(&previous, &content)],
        )?;
        for (ordinal, due) in event.due.iter().enumerate() {
            self.execute(
                "INSERT INTO due (run, seq, ordinal, effect, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![key.0, seq, ordinal, due.effect, due.digest],
            )?;
        }
        self.add_blobs(key, seq.cast_signed(), blobs)
    }

    fn add_claim(&mut self, key: RunKey, len: u64, effect: &str, epoch: u64) -> StoreResult<ClaimOutcome> {
        let digest = claim_digest(&self.chain_before(key, len)?, effect, epoch);
        let added = self.execute(
            "INSERT INTO claims (run, seq, effect, epoch, chain) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            params![key.0, len, effect, epoch, digest],
        )?;
        Ok(if added == 0 { ClaimOutcome::AlreadyClaimed } else { ClaimOutcome::New })
    }

    fn add_signal(&mut self, key: RunKey, signal: &RunSignal, at_ms: i64) -> StoreResult<SignalId> {
        self.execute(
            "INSERT INTO inbox (run, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4)",
            params![key.0, at_ms, signal.kind, signal.body],
        )?;
        let id = u64::try_from(self.0.last_insert_rowid());
        id.map(SignalId).map_err(|_| StoreFailure::Contents("the inbox has no ids left".to_owned()))
    }

    fn consume(&mut self, key: RunKey, id: SignalId, len: u64) -> StoreResult<()> {
        self.execute("UPDATE inbox SET consumed = ?3 WHERE id = ?2 AND run = ?1", params![key.0, id.0, len])?;
        Ok(())
    }

    fn set_snapshot(&mut self, key: RunKey, snapshot: &SplitSnapshot) -> StoreResult<()> {
        let SplitSnapshot { len, machine_version, body } = snapshot;
        let digest = self.replace_blobs(key, SNAPSHOT_SEQ, *len, body)?;
        self.execute(
            "INSERT OR REPLACE INTO snapshots (run, len, machine_version, body, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key.0, len, machine_version, body.rest, digest],
        )?;
        Ok(())
    }

    fn remove_snapshot(&mut self, key: RunKey) -> StoreResult<()> {
        if self.execute("DELETE FROM snapshots WHERE run = ?1", [key.0])? > 0 {
            self.remove_unused_blobs(&self.detach_blobs(key, SNAPSHOT_SEQ)?)?;
        }
        Ok(())
    }

    fn set_ending(&mut self, key: RunKey, len: u64, result: &SplitText) -> StoreResult<()> {
        let digest = self.replace_blobs(key, ENDING_SEQ, len, result)?;
        self.execute(
            "INSERT OR REPLACE INTO endings (run, body, digest) VALUES (?1, ?2, ?3)",
            params![key.0, result.rest, digest],
        )?;
        Ok(())
    }

    fn set_spending(&mut self, account: &str, month: &str, spending: Spending) -> StoreResult<()> {
        let sql = "INSERT OR REPLACE INTO spending (account, month, spent, reserved) VALUES (?1, ?2, ?3, ?4)";
        let (spent, reserved) = (column(spending.spent), column(spending.reserved));
        self.execute(sql, params![account, month, spent, reserved])?;
        Ok(())
    }

    fn set_run_spending(&mut self, key: RunKey, run: Option<&RunSpending>) -> StoreResult<()> {
        let Some(RunSpending { account, month, reserved, counted }) = run else {
            self.0.prepare_cached("DELETE FROM run_spending WHERE run = ?1")?.execute([key.0])?;
            return Ok(());
        };
        let sql =
            "INSERT OR REPLACE INTO run_spending (run, account, month, reserved, counted) VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![key.0, account, month, column(*reserved), column(*counted)];
        self.execute(sql, values)?;
        Ok(())
    }

    fn set_business_key(&mut self, key: &StoredKey) -> StoreResult<()> {
        let StoredKey { claim, run, since_ms, receipt } = key;
        let KeyClaim { key: name, capability, values, window_ms, step } = claim;
        let sql = "INSERT OR REPLACE INTO business_keys
            (key, capability, key_values, window_ms, run, step, since_ms, receipt, digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let window_ms = window_column(*window_ms);
        let values =
            params![name, capability, values, window_ms, run.as_str(), step, since_ms, receipt, digest_of(key)];
        self.execute(sql, values)?;
        Ok(())
    }

    fn remove_business_key(&mut self, key: &str) -> StoreResult<bool> {
        Ok(self.0.prepare_cached("DELETE FROM business_keys WHERE key = ?1")?.execute([key])? > 0)
    }

    fn set_learned_mapping(&mut self, mapping: &StoredMapping, at_ms: i64) -> StoreResult<()> {
        let StoredMapping { producer, consumer, parameter, expression } = mapping;
        self.execute(
            "INSERT INTO learned_mappings (producer, consumer, parameter, expression, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (producer, consumer, parameter)
             DO UPDATE SET expression = ?4, at_ms = ?5 WHERE accepted_ms IS NULL",
            params![producer, consumer, parameter, expression, at_ms],
        )?;
        Ok(())
    }

    fn accept_mapping(&mut self, mapping: &StoredMapping, at_ms: i64) -> StoreResult<bool> {
        let StoredMapping { producer, consumer, parameter, expression } = mapping;
        let changed = self.execute(
            "UPDATE learned_mappings SET accepted_ms = coalesce(accepted_ms, ?5)
             WHERE producer = ?1 AND consumer = ?2 AND parameter = ?3 AND expression = ?4",
            params![producer, consumer, parameter, expression, at_ms],
        )?;
        Ok(changed > 0)
    }

    fn remove_mapping(&mut self, mapping: &StoredMapping) -> StoreResult<bool> {
        let StoredMapping { producer, consumer, parameter, expression } = mapping;
        let changed = self.execute(
            "DELETE FROM learned_mappings
             WHERE producer = ?1 AND consumer = ?2 AND parameter = ?3 AND expression = ?4",
            params![producer, consumer, parameter, expression],
        )?;
        Ok(changed > 0)
    }
}

/// A column holds at most `i64::MAX`.
fn column(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
