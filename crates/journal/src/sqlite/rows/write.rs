//! Writing rows.

use reknit_protocol::RunId;
use rusqlite::{Params, params};

use super::Rows;
use crate::blob::Folded;
use crate::error::storage::{Failure, Stored};
use crate::tables::{RunKey, RunState, Tables};
use crate::{Claim, Holder, Lesson, Signal, SignalId, Snapshot};

impl Rows<'_> {
    /// How many rows changed.
    fn change(&self, sql: &str, params: impl Params) -> Stored<usize> {
        Ok(self.0.prepare_cached(sql)?.execute(params)?)
    }
}

fn columns(lease: Option<&(Holder, i64)>) -> Stored<(Option<String>, Option<i64>)> {
    let Some((holder, until_ms)) = lease else { return Ok((None, None)) };
    let unwritten = |error| Failure::Contents(format!("who holds a run cannot be written: {error}"));
    Ok((Some(serde_json::to_string(holder).map_err(unwritten)?), Some(*until_ms)))
}

impl Tables for Rows<'_> {
    fn add_run(&mut self, run: &RunId, title: &str, created_ms: i64, state: &RunState) -> Stored<RunKey> {
        let (holder, until_ms) = columns(state.lease.as_ref())?;
        let RunState { updated_ms, status, len, epoch, lease: _ } = state;
        self.change(
            "INSERT INTO runs (run, title, created_ms, updated_ms, status, len, epoch, holder, until_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![run.as_str(), title, created_ms, updated_ms, status, len, epoch, holder, until_ms],
        )?;
        Ok(RunKey(self.0.last_insert_rowid()))
    }

    fn set_run(&mut self, key: RunKey, state: &RunState) -> Stored<()> {
        let (holder, until_ms) = columns(state.lease.as_ref())?;
        let RunState { updated_ms, status, len, epoch, lease: _ } = state;
        self.change(
            "UPDATE runs SET updated_ms = ?2, status = ?3, len = ?4, epoch = ?5, holder = ?6, until_ms = ?7
             WHERE key = ?1",
            params![key.0, updated_ms, status, len, epoch, holder, until_ms],
        )?;
        Ok(())
    }

    fn add_event(&mut self, key: RunKey, seq: u64, event: &Folded) -> Stored<()> {
        let Folded { event, blobs } = event;
        self.change(
            "INSERT INTO events (run, seq, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key.0, seq, event.at_ms, event.kind, event.body],
        )?;
        for (ordinal, due) in event.due.iter().enumerate() {
            self.change(
                "INSERT INTO due (run, seq, ordinal, effect, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![key.0, seq, ordinal, due.effect, due.digest],
            )?;
        }
        for (ordinal, blob) in blobs.iter().enumerate() {
            self.change(
                "INSERT INTO blobs (digest, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![blob.digest, blob.text],
            )?;
            self.change(
                "INSERT INTO parts (run, seq, ordinal, place, digest, size) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![key.0, seq, ordinal, blob.offset, blob.digest, blob.text.len()],
            )?;
        }
        Ok(())
    }

    fn add_claim(&mut self, key: RunKey, effect: &str, epoch: u64) -> Stored<Claim> {
        let added = self.change(
            "INSERT INTO claims (run, effect, epoch) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![key.0, effect, epoch],
        )?;
        Ok(if added == 0 { Claim::Already } else { Claim::Fresh })
    }

    fn add_signal(&mut self, key: RunKey, signal: &Signal, at_ms: i64) -> Stored<SignalId> {
        self.change(
            "INSERT INTO inbox (run, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4)",
            params![key.0, at_ms, signal.kind, signal.body],
        )?;
        let id = u64::try_from(self.0.last_insert_rowid());
        id.map(SignalId).map_err(|_| Failure::Contents("the inbox is full".to_owned()))
    }

    fn consume(&mut self, key: RunKey, id: SignalId, len: u64) -> Stored<()> {
        self.change("UPDATE inbox SET consumed = ?3 WHERE id = ?2 AND run = ?1", params![key.0, id.0, len])?;
        Ok(())
    }

    fn set_snapshot(&mut self, key: RunKey, snapshot: &Snapshot) -> Stored<()> {
        self.change(
            "INSERT OR REPLACE INTO snapshots (run, len, machine_version, body) VALUES (?1, ?2, ?3, ?4)",
            params![key.0, snapshot.len, snapshot.machine_version, snapshot.body],
        )?;
        Ok(())
    }

    fn set_lesson(&mut self, lesson: &Lesson, at_ms: i64) -> Stored<()> {
        let Lesson { producer, consumer, parameter, expression } = lesson;
        self.change(
            "INSERT OR REPLACE INTO lessons (producer, consumer, parameter, expression, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![producer, consumer, parameter, expression, at_ms],
        )?;
        Ok(())
    }
}
