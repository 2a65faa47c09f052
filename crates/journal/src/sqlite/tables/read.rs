//! Reading rows of `SQLite`.

use reknit_protocol::RunId;
use rusqlite::{OptionalExtension as _, Params, Row, params};

use super::super::chain::{EventContent, RowDigest, START, claim_digest, event_digest, read_digest, text_digest};
use super::business_key::{SELECT, read};
use super::{ENDING_SEQ, SELECT_RUN, SNAPSHOT_SEQ, SqliteTables, run_row};
use crate::blob::{digest, join_body};
use crate::error::storage::{StoreFailure, StoreResult};
use crate::retention::EndOrder;
use crate::spending::RunSpending;
use crate::tables::{ReadTables, RunKey, RunRow};
use crate::{
    DueEffect, InboxMessage, LearnedMapping, PrunedRun, RunFilter, RunSignal, SignalId, Snapshot, Spending,
    StatusFilter, StoreSize, StoredEvent, StoredKey, StoredMapping,
};

/// The runs that may be pruned: the condition of the index `runs_ended`.
const PRUNABLE: &str = "status IS NOT NULL";

impl SqliteTables<'_> {
    fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl Fn(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        self.0.prepare_cached(sql)?.query_and_then(params, read)?.collect()
    }

    /// The digest of the event before position `seq`.
    pub(super) fn chain_before(&self, key: RunKey, seq: u64) -> StoreResult<RowDigest> {
        let Some(before) = seq.checked_sub(1) else { return Ok(START) };
        let mut statement = self.0.prepare_cached("SELECT chain FROM events WHERE run = ?1 AND seq = ?2")?;
        let mut rows = statement.query(params![key.0, before])?;
        let row = rows.next()?.ok_or_else(|| StoreFailure::Contents(format!("event {before} of a run is missing")))?;
        read_digest(row, 0)
    }

    /// The digests of the claims that were made while the run had `seq` events, sorted by effect.
    pub(super) fn claim_digests(&self, key: RunKey, seq: u64) -> StoreResult<Vec<RowDigest>> {
        let sql = "SELECT chain FROM claims WHERE run = ?1 AND seq = ?2 ORDER BY effect";
        self.query_all(sql, params![key.0, seq], |row| read_digest(row, 0))
    }

    /// The blobs of an event, an ending or a snapshot, each with its offset and digest.
    fn blobs(&self, key: RunKey, seq: i64) -> StoreResult<Vec<StoredBlob>> {
        let sql = "SELECT offset, event_blobs.digest, size, body FROM event_blobs LEFT JOIN blobs USING (digest)
            WHERE run = ?1 AND seq = ?2 ORDER BY ordinal";
        self.query_all(sql, params![key.0, seq], |row| {
            let (offset, expected, size): (usize, String, usize) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let text = row.get::<_, Option<String>>(3)?.unwrap_or_default();
            if text.len() != size || digest(&text) != expected {
                let problem = format!("the blob {expected} of event {seq} was changed or deleted");
                return Err(StoreFailure::Contents(problem));
            }
            Ok(StoredBlob { offset, digest: expected, text })
        })
    }

    /// The effects that an event made due.
    fn due_of(&self, key: RunKey, seq: u64) -> StoreResult<Vec<DueEffect>> {
        let sql = "SELECT effect, digest FROM due WHERE run = ?1 AND seq = ?2 ORDER BY ordinal";
        self.query_all(sql, params![key.0, seq], |row| Ok(DueEffect { effect: row.get(0)?, digest: row.get(1)? }))
    }

    /// Puts the blobs back into an event, and checks its digest. Returns the event and the digest.
    fn complete(
        &self,
        key: RunKey,
        (mut event, stored): (StoredEvent, RowDigest),
        previous: &RowDigest,
    ) -> StoreResult<(StoredEvent, RowDigest)> {
        let (blobs, due) = (self.blobs(key, event.seq.cast_signed())?, self.due_of(key, event.seq)?);
        let content = EventContent {
            at_ms: event.at_ms,
            kind: &event.kind,
            body: &event.body,
            due: &due.iter().map(|due| (due.effect.as_str(), due.digest.as_str())).collect::<Vec<_>>(),
            blobs: &blobs.iter().map(|blob| (blob.offset as u64, blob.digest.as_str())).collect::<Vec<_>>(),
            claims: &self.claim_digests(key, event.seq)?,
        };
        if event_digest(previous, &content) != stored {
            return Err(StoreFailure::Chain { seq: event.seq });
        }
        if !blobs.is_empty() {
            let blobs: Vec<(usize, String)> = blobs.into_iter().map(|blob| (blob.offset, blob.text)).collect();
            let outside = || StoreFailure::Contents(format!("a blob lies outside event {}", event.seq));
            event.body = join_body(&event.body, &blobs).ok_or_else(outside)?;
        }
        Ok((event, stored))
    }
}

impl SqliteTables<'_> {
    /// The whole text of an ending or a snapshot. `digest` was stored with it, when the run had `len` events.
    fn whole_text(
        &self,
        (key, seq, len): (RunKey, i64, u64),
        rest: &str,
        digest: Option<RowDigest>,
    ) -> StoreResult<String> {
        let blobs = self.blobs(key, seq)?;
        let parts = blobs.iter().map(|blob| (blob.offset, blob.digest.as_str()));
        if let Some(digest) = digest
            && text_digest(&self.chain_before(key, len)?, rest, parts) != digest
        {
            return Err(StoreFailure::Contents("the stored ending or snapshot of a run was changed".to_owned()));
        }
        let blobs: Vec<(usize, String)> = blobs.into_iter().map(|blob| (blob.offset, blob.text)).collect();
        let outside = || StoreFailure::Contents("a blob lies outside the ending or snapshot of a run".to_owned());
        join_body(rest, &blobs).ok_or_else(outside)
    }
}

/// A long value that was cut out of an event.
struct StoredBlob {
    offset: usize,
    digest: String,
    text: String,
}

impl ReadTables for SqliteTables<'_> {
    fn run(&self, run: &RunId) -> StoreResult<Option<RunRow>> {
        let mut statement = self.0.prepare_cached(&format!("{SELECT_RUN} WHERE run = ?1"))?;
        let mut rows = statement.query([run.as_str()])?;
        rows.next()?.map(run_row).transpose()
    }

    fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>> {
        let (condition, status) = match &filter.status {
            StatusFilter::All => ("?1 IS NULL", None),
            StatusFilter::Unfinished => ("?1 IS NULL AND status IS NULL", None),
            StatusFilter::Ended => ("?1 IS NULL AND status IS NOT NULL", None),
            StatusFilter::Status(status) => ("status = ?1", Some(status)),
        };
        // A condition that is not asked for is left out, so that SQLite can use its index.
        let since = if filter.since_ms.is_some() { "created_ms >= ?3" } else { "?3 IS NULL" };
        let title = if filter.title.is_some() { "instr(lower(title), lower(?4)) > 0" } else { "?4 IS NULL" };
        let owner = if filter.owner.is_some() { "owner = ?5" } else { "?5 IS NULL" };
        // Nothing comes after a run that does not exist: a comparison with no row is not true.
        let after = match filter.after {
            Some(_) => "(created_ms, key) < (SELECT created_ms, key FROM runs WHERE run = ?6)",
            None => "?6 IS NULL",
        };
        let sql = format!(
            "{SELECT_RUN} WHERE {condition} AND {since} AND {title} AND {owner} AND {after}
             ORDER BY created_ms DESC, key DESC LIMIT ?2"
        );
        let after = filter.after.as_ref().map(RunId::as_str);
        let values = params![status, filter.limit, filter.since_ms, filter.title, filter.owner, after];
        self.query_all(&sql, values, run_row)
    }

    fn request_of(&self, key: RunKey) -> StoreResult<Option<String>> {
        let mut statement = self.0.prepare_cached("SELECT digest FROM run_requests WHERE run = ?1")?;
        Ok(statement.query_row([key.0], |row| row.get(0)).optional()?)
    }

    fn first_ended(&self, limit: u32) -> StoreResult<Vec<RunRow>> {
        let sql = format!("{SELECT_RUN} WHERE {PRUNABLE} ORDER BY updated_ms, key LIMIT ?1");
        self.0.prepare_cached(&sql)?.query_and_then([limit], run_row)?.collect()
    }

    fn end_order_beyond(&self, keep: u64) -> StoreResult<Option<EndOrder>> {
        let sql = format!(
            "SELECT updated_ms, key FROM runs WHERE {PRUNABLE} ORDER BY updated_ms DESC, key DESC LIMIT 1 OFFSET ?1"
        );
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        Ok(self.0.prepare_cached(&sql)?.query_row([keep], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    fn ended_count(&self) -> StoreResult<u64> {
        let sql = format!("SELECT count(*) FROM runs WHERE {PRUNABLE}");
        Ok(self.0.query_row(&sql, [], |row| row.get(0))?)
    }

    fn ended_up_to(&self, end: EndOrder) -> StoreResult<u64> {
        let sql = format!("SELECT count(*) FROM runs WHERE {PRUNABLE} AND (updated_ms, key) <= (?1, ?2)");
        Ok(self.0.query_row(&sql, params![end.0, end.1], |row| row.get(0))?)
    }

    fn pruned_run(&self, run: &RunId) -> StoreResult<Option<PrunedRun>> {
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
        Ok(self.0.prepare_cached(sql)?.query_row([run.as_str()], read).optional()?)
    }

    fn size(&self) -> StoreResult<StoreSize> {
        let pragma = |name: &str| -> StoreResult<u64> {
            Ok(self.0.prepare_cached(&format!("PRAGMA {name}"))?.query_row([], |row| row.get(0))?)
        };
        let (page, pages, free) = (pragma("page_size")?, pragma("page_count")?, pragma("freelist_count")?);
        Ok(StoreSize { used_bytes: pages.saturating_sub(free) * page, free_bytes: free * page })
    }

    fn expired_keys(&self, until_ms: i64, limit: u32) -> StoreResult<Vec<String>> {
        let sql = "SELECT key FROM business_keys WHERE since_ms + window_ms <= ?1 LIMIT ?2";
        let mut statement = self.0.prepare_cached(sql)?;
        statement.query_and_then(params![until_ms, limit], |row| Ok(row.get(0)?))?.collect()
    }

    fn run_count(&self) -> StoreResult<u64> {
        Ok(self.0.query_row("SELECT count(*) FROM runs", [], |row| row.get(0))?)
    }

    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> StoreResult<Vec<RunId>> {
        let sql = "SELECT run FROM runs WHERE run >= ?1 ORDER BY run LIMIT ?2";
        let ids: Vec<String> = self.query_all(sql, params![prefix, limit], |row| Ok(row.get(0)?))?;
        // The ids that begin with the prefix come first, without gaps.
        Ok(ids.into_iter().take_while(|run| run.starts_with(prefix)).map(RunId::from).collect())
    }

    fn runs_with_suffix(&self, suffix: &str, limit: u32) -> StoreResult<Vec<RunId>> {
        let sql = "SELECT run FROM runs WHERE substr(run, -length(?1)) = ?1 ORDER BY run LIMIT ?2";
        let ids: Vec<String> = self.query_all(sql, params![suffix, limit], |row| Ok(row.get(0)?))?;
        Ok(ids.into_iter().map(RunId::from).collect())
    }

    fn events(&self, key: RunKey, from_seq: u64, limit: u32) -> StoreResult<Vec<StoredEvent>> {
        let sql = "SELECT seq, at_ms, kind, body, chain FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";
        let rows = self.query_all(sql, params![key.0, from_seq, limit], |row| {
            let event = StoredEvent { seq: row.get(0)?, at_ms: row.get(1)?, kind: row.get(2)?, body: row.get(3)? };
            Ok((event, read_digest(row, 4)?))
        })?;
        let mut previous = match rows.first() {
            Some((event, _)) => self.chain_before(key, event.seq)?,
            None => START,
        };
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            let (event, digest) = self.complete(key, row, &previous)?;
            previous = digest;
            events.push(event);
        }
        Ok(events)
    }

    fn positions_of_kind(&self, key: RunKey, kind: &str, from_seq: u64) -> StoreResult<Vec<u64>> {
        // A position that SQLite cannot store is behind every event.
        let from_seq = i64::try_from(from_seq).unwrap_or(i64::MAX);
        let sql = "SELECT seq FROM events WHERE run = ?1 AND kind = ?2 AND seq >= ?3 ORDER BY seq";
        self.query_all(sql, params![key.0, kind, from_seq], |row| Ok(row.get(0)?))
    }

    fn due_effects(&self, key: RunKey) -> StoreResult<Vec<(u64, DueEffect)>> {
        let sql = "SELECT seq, effect, digest FROM due WHERE run = ?1 ORDER BY seq, ordinal";
        self.query_all(sql, [key.0], |row| Ok((row.get(0)?, DueEffect { effect: row.get(1)?, digest: row.get(2)? })))
    }

    fn claims(&self, key: RunKey) -> StoreResult<Vec<String>> {
        let sql = "SELECT seq, effect, epoch, chain FROM claims WHERE run = ?1 ORDER BY effect";
        let claims = self.query_all(sql, [key.0], |row| {
            Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?, row.get::<_, u64>(2)?, read_digest(row, 3)?))
        })?;
        let checked = claims.into_iter().map(|(seq, effect, epoch, digest)| {
            if claim_digest(&self.chain_before(key, seq)?, &effect, epoch) == digest {
                Ok(effect)
            } else {
                Err(StoreFailure::Contents(format!("the claim of `{effect}` was changed")))
            }
        });
        checked.collect()
    }

    fn pending_messages(&self, key: RunKey, after: SignalId) -> StoreResult<Vec<InboxMessage>> {
        let sql = "SELECT id, at_ms, kind, body FROM inbox WHERE run = ?1 AND id > ?2 AND consumed IS NULL ORDER BY id";
        self.query_all(sql, params![key.0, after.0], |row| {
            let signal = RunSignal { kind: row.get(2)?, body: row.get(3)? };
            Ok(InboxMessage { id: SignalId(row.get(0)?), at_ms: row.get(1)?, signal })
        })
    }

    fn snapshot(&self, key: RunKey) -> StoreResult<Option<Snapshot>> {
        let sql = "SELECT len, machine_version, body, digest FROM snapshots WHERE run = ?1";
        let rows = self.query_all(sql, [key.0], |row| {
            // Before version 5 a snapshot had no digest.
            let digest = row.get::<_, Option<Vec<u8>>>(3)?.map(|_| read_digest(row, 3)).transpose()?;
            Ok((Snapshot { len: row.get(0)?, machine_version: row.get(1)?, body: row.get(2)? }, digest))
        })?;
        let whole = |(snapshot, digest): (Snapshot, Option<RowDigest>)| {
            let body = self.whole_text((key, SNAPSHOT_SEQ, snapshot.len), &snapshot.body, digest)?;
            Ok(Snapshot { body, ..snapshot })
        };
        rows.into_iter().next().map(whole).transpose()
    }

    fn ending(&self, key: RunKey, len: u64) -> StoreResult<Option<String>> {
        let sql = "SELECT body, digest FROM endings WHERE run = ?1";
        let rows = self.query_all(sql, [key.0], |row| Ok((row.get::<_, String>(0)?, read_digest(row, 1)?)))?;
        let whole = |(body, digest): (String, _)| self.whole_text((key, ENDING_SEQ, len), &body, Some(digest));
        rows.into_iter().next().map(whole).transpose()
    }

    fn learned_mappings(&self, limit: u32) -> StoreResult<Vec<LearnedMapping>> {
        let sql = "SELECT producer, consumer, parameter, expression, at_ms, accepted_ms FROM learned_mappings
            ORDER BY accepted_ms IS NULL, at_ms DESC, producer, consumer, parameter LIMIT ?1";
        self.query_all(sql, [limit], |row| {
            let (producer, consumer) = (row.get(0)?, row.get(1)?);
            let mapping = StoredMapping { producer, consumer, parameter: row.get(2)?, expression: row.get(3)? };
            Ok(LearnedMapping { mapping, learned_ms: row.get(4)?, accepted_ms: row.get(5)? })
        })
    }

    fn business_key(&self, key: &str) -> StoreResult<Option<StoredKey>> {
        let mut statement = self.0.prepare_cached(&format!("{SELECT} WHERE key = ?1"))?;
        statement.query_row([key], |row| Ok(read(row))).optional()?.transpose()
    }

    fn business_keys(&self) -> StoreResult<Vec<StoredKey>> {
        let mut statement = self.0.prepare_cached(&format!("{SELECT} ORDER BY since_ms DESC, key"))?;
        statement.query_and_then([], read)?.collect()
    }

    fn spending(&self, account: &str, month: &str) -> StoreResult<Spending> {
        let sql = "SELECT spent, reserved FROM spending WHERE account = ?1 AND month = ?2";
        let read = |row: &Row<'_>| Ok(Spending { spent: row.get(0)?, reserved: row.get(1)? });
        Ok(self.0.prepare_cached(sql)?.query_row([account, month], read).optional()?.unwrap_or_default())
    }

    fn run_spending(&self, key: RunKey) -> StoreResult<Option<RunSpending>> {
        let sql = "SELECT account, month, reserved, counted FROM run_spending WHERE run = ?1";
        let read = |row: &Row<'_>| {
            let (account, month) = (row.get(0)?, row.get(1)?);
            Ok(RunSpending { account, month, reserved: row.get(2)?, counted: row.get(3)? })
        };
        Ok(self.0.prepare_cached(sql)?.query_row([key.0], read).optional()?)
    }
}
