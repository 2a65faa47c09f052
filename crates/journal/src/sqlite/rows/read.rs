//! Reading rows.

use std::collections::BTreeMap;

use reknit_protocol::RunId;
use rusqlite::{OptionalExtension as _, Params, Row, params};

use super::{RUN, Rows, run_row};
use crate::blob::{digest, unfold};
use crate::error::storage::{Failure, Stored};
use crate::tables::{RunKey, RunRow, Views};
use crate::{Due, Lesson, Letter, Record, RunFilter, Signal, SignalId, Snapshot, Which};

impl Rows<'_> {
    fn all<T>(&self, sql: &str, params: impl Params, read: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Stored<Vec<T>> {
        let mut statement = self.0.prepare_cached(sql)?;
        let rows = statement.query_map(params, |row| read(row))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What was cut out of the events from `from_seq`, by event, each with where it belongs.
    fn blobs(&self, key: RunKey, from_seq: u64) -> Stored<BTreeMap<u64, Vec<(usize, String)>>> {
        let sql = "SELECT seq, place, parts.digest, size, body FROM parts LEFT JOIN blobs USING (digest)
            WHERE run = ?1 AND seq >= ?2 ORDER BY seq, ordinal";
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![key.0, from_seq])?;
        let mut blobs: BTreeMap<u64, Vec<(usize, String)>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (seq, place): (u64, usize) = (row.get(0)?, row.get(1)?);
            let (expected, size): (String, usize) = (row.get(2)?, row.get(3)?);
            let text = row.get::<_, Option<String>>(4)?.unwrap_or_default();
            if text.len() != size || digest(&text) != expected {
                return Err(Failure::Contents(format!("the blob {expected} of event {seq} is not what was written")));
            }
            blobs.entry(seq).or_default().push((place, text));
        }
        Ok(blobs)
    }
}

impl Views for Rows<'_> {
    fn run(&self, run: &RunId) -> Stored<Option<RunRow>> {
        let mut statement = self.0.prepare_cached(&format!("{RUN} WHERE run = ?1"))?;
        let mut rows = statement.query([run.as_str()])?;
        rows.next()?.map(run_row).transpose()
    }

    fn runs(&self, filter: &RunFilter) -> Stored<Vec<RunRow>> {
        let (condition, wanted) = match &filter.which {
            Which::All => ("?1 IS NULL", None),
            Which::Unfinished => ("?1 IS NULL AND status IS NULL", None),
            Which::Ended => ("?1 IS NULL AND status IS NOT NULL", None),
            Which::Status(status) => ("status = ?1", Some(status)),
        };
        let sql = format!("{RUN} WHERE {condition} ORDER BY created_ms DESC, key DESC LIMIT ?2");
        let mut statement = self.0.prepare_cached(&sql)?;
        let mut rows = statement.query(params![wanted, filter.limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(run_row(row)?);
        }
        Ok(found)
    }

    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> Stored<Vec<RunId>> {
        let mut statement = self.0.prepare_cached("SELECT run FROM runs WHERE run >= ?1 ORDER BY run LIMIT ?2")?;
        let mut rows = statement.query(params![prefix, limit])?;
        let mut found = Vec::new();
        // Those that begin with the prefix stand together, first.
        while let Some(row) = rows.next()? {
            let run: String = row.get(0)?;
            if !run.starts_with(prefix) {
                break;
            }
            found.push(run.into());
        }
        Ok(found)
    }

    fn events(&self, key: RunKey, from_seq: u64) -> Stored<Vec<Record>> {
        let sql = "SELECT seq, at_ms, kind, body FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq";
        let mut records = self.all(sql, params![key.0, from_seq], |row| {
            Ok(Record { seq: row.get(0)?, at_ms: row.get(1)?, kind: row.get(2)?, body: row.get(3)? })
        })?;
        let blobs = self.blobs(key, from_seq)?;
        for record in &mut records {
            if let Some(blobs) = blobs.get(&record.seq) {
                let outside = || Failure::Contents(format!("a blob lies outside event {}", record.seq));
                record.body = unfold(&record.body, blobs).ok_or_else(outside)?;
            }
        }
        Ok(records)
    }

    fn due(&self, key: RunKey) -> Stored<Vec<(u64, Due)>> {
        let sql = "SELECT seq, effect, digest FROM due WHERE run = ?1 ORDER BY seq, ordinal";
        self.all(sql, [key.0], |row| Ok((row.get(0)?, Due { effect: row.get(1)?, digest: row.get(2)? })))
    }

    fn claims(&self, key: RunKey) -> Stored<Vec<String>> {
        self.all("SELECT effect FROM claims WHERE run = ?1 ORDER BY effect", [key.0], |row| row.get(0))
    }

    fn unread(&self, key: RunKey, after: SignalId) -> Stored<Vec<Letter>> {
        let sql = "SELECT id, at_ms, kind, body FROM inbox WHERE run = ?1 AND id > ?2 AND consumed IS NULL ORDER BY id";
        self.all(sql, params![key.0, after.0], |row| {
            let signal = Signal { kind: row.get(2)?, body: row.get(3)? };
            Ok(Letter { id: SignalId(row.get(0)?), at_ms: row.get(1)?, signal })
        })
    }

    fn snapshot(&self, key: RunKey) -> Stored<Option<Snapshot>> {
        let mut statement = self.0.prepare_cached("SELECT len, machine_version, body FROM snapshots WHERE run = ?1")?;
        let snapshot = statement.query_row([key.0], |row| {
            Ok(Snapshot { len: row.get(0)?, machine_version: row.get(1)?, body: row.get(2)? })
        });
        Ok(snapshot.optional()?)
    }

    fn lessons(&self, limit: u32) -> Stored<Vec<Lesson>> {
        let sql = "SELECT producer, consumer, parameter, expression FROM lessons
            ORDER BY at_ms DESC, producer, consumer, parameter LIMIT ?1";
        self.all(sql, [limit], |row| {
            let (producer, consumer) = (row.get(0)?, row.get(1)?);
            Ok(Lesson { producer, consumer, parameter: row.get(2)?, expression: row.get(3)? })
        })
    }
}
