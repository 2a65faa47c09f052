//! Reading rows of `SQLite`.

use std::collections::BTreeMap;

use reknit_protocol::RunId;
use rusqlite::{OptionalExtension as _, Params, Row, params};

use super::{SELECT_RUN, SqliteTables, run_row};
use crate::blob::{digest, join_body};
use crate::error::storage::{StoreFailure, StoreResult};
use crate::tables::{ReadTables, RunKey, RunRow};
use crate::{
    DueEffect, InboxMessage, LearnedMapping, RunFilter, RunSignal, SignalId, Snapshot, StatusFilter, StoredEvent,
    StoredMapping,
};

impl SqliteTables<'_> {
    fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl Fn(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        self.0.prepare_cached(sql)?.query_and_then(params, read)?.collect()
    }

    /// The blobs of the events from `from_seq` on, by event, each with its offset.
    fn blobs(&self, key: RunKey, from_seq: u64) -> StoreResult<BTreeMap<u64, Vec<(usize, String)>>> {
        let sql = "SELECT seq, offset, event_blobs.digest, size, body FROM event_blobs LEFT JOIN blobs USING (digest)
            WHERE run = ?1 AND seq >= ?2 ORDER BY seq, ordinal";
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![key.0, from_seq])?;
        let mut blobs: BTreeMap<u64, Vec<(usize, String)>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (seq, offset): (u64, usize) = (row.get(0)?, row.get(1)?);
            let (expected, size): (String, usize) = (row.get(2)?, row.get(3)?);
            let text = row.get::<_, Option<String>>(4)?.unwrap_or_default();
            if text.len() != size || digest(&text) != expected {
                let problem = format!("the blob {expected} of event {seq} was changed or deleted");
                return Err(StoreFailure::Contents(problem));
            }
            blobs.entry(seq).or_default().push((offset, text));
        }
        Ok(blobs)
    }
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
        let sql = format!("{SELECT_RUN} WHERE {condition} ORDER BY created_ms DESC, key DESC LIMIT ?2");
        self.query_all(&sql, params![status, filter.limit], run_row)
    }

    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> StoreResult<Vec<RunId>> {
        let sql = "SELECT run FROM runs WHERE run >= ?1 ORDER BY run LIMIT ?2";
        let ids: Vec<String> = self.query_all(sql, params![prefix, limit], |row| Ok(row.get(0)?))?;
        // The ids that begin with the prefix come first, without gaps.
        Ok(ids.into_iter().take_while(|run| run.starts_with(prefix)).map(RunId::from).collect())
    }

    fn events(&self, key: RunKey, from_seq: u64) -> StoreResult<Vec<StoredEvent>> {
        let sql = "SELECT seq, at_ms, kind, body FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq";
        let mut events = self.query_all(sql, params![key.0, from_seq], |row| {
            Ok(StoredEvent { seq: row.get(0)?, at_ms: row.get(1)?, kind: row.get(2)?, body: row.get(3)? })
        })?;
        let blobs = self.blobs(key, from_seq)?;
        for event in &mut events {
            if let Some(blobs) = blobs.get(&event.seq) {
                let outside = || StoreFailure::Contents(format!("a blob lies outside event {}", event.seq));
                event.body = join_body(&event.body, blobs).ok_or_else(outside)?;
            }
        }
        Ok(events)
    }

    fn due_effects(&self, key: RunKey) -> StoreResult<Vec<(u64, DueEffect)>> {
        let sql = "SELECT seq, effect, digest FROM due WHERE run = ?1 ORDER BY seq, ordinal";
        self.query_all(sql, [key.0], |row| Ok((row.get(0)?, DueEffect { effect: row.get(1)?, digest: row.get(2)? })))
    }

    fn claims(&self, key: RunKey) -> StoreResult<Vec<String>> {
        self.query_all("SELECT effect FROM claims WHERE run = ?1 ORDER BY effect", [key.0], |row| Ok(row.get(0)?))
    }

    fn pending_messages(&self, key: RunKey, after: SignalId) -> StoreResult<Vec<InboxMessage>> {
        let sql = "SELECT id, at_ms, kind, body FROM inbox WHERE run = ?1 AND id > ?2 AND consumed IS NULL ORDER BY id";
        self.query_all(sql, params![key.0, after.0], |row| {
            let signal = RunSignal { kind: row.get(2)?, body: row.get(3)? };
            Ok(InboxMessage { id: SignalId(row.get(0)?), at_ms: row.get(1)?, signal })
        })
    }

    fn snapshot(&self, key: RunKey) -> StoreResult<Option<Snapshot>> {
        let mut statement = self.0.prepare_cached("SELECT len, machine_version, body FROM snapshots WHERE run = ?1")?;
        let snapshot = statement.query_row([key.0], |row| {
            Ok(Snapshot { len: row.get(0)?, machine_version: row.get(1)?, body: row.get(2)? })
        });
        Ok(snapshot.optional()?)
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
}
