//! The tables in memory, for tests and for runs that nobody needs to resume.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reknit_protocol::RunId;

use crate::blob::{Folded, unfold};
use crate::error::storage::{Failure, Stored};
use crate::tables::{RunKey, RunRow, RunState, Tables, Views};
use crate::{Claim, Due, Lesson, Letter, Record, RunFilter, Signal, SignalId, Snapshot};

/// The tables in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    runs: Vec<Run>,
    keys: BTreeMap<RunId, RunKey>,
    blobs: HashMap<String, String>,
    signals: u64,
    /// By producer, consumer and parameter: when it was learned, and the expression.
    lessons: BTreeMap<[String; 3], (i64, String)>,
}

#[derive(Debug)]
struct Run {
    row: RunRow,
    events: Vec<Event>,
    claims: BTreeSet<String>,
    unread: BTreeMap<SignalId, Letter>,
    snapshot: Option<Snapshot>,
}

#[derive(Debug)]
struct Event {
    record: Record,
    due: Vec<Due>,
    /// Where each blob belongs, and its digest.
    blobs: Vec<(usize, String)>,
}

impl Memory {
    fn of(&self, key: RunKey) -> Stored<&Run> {
        usize::try_from(key.0).ok().and_then(|at| self.runs.get(at)).ok_or_else(no_such_key)
    }

    fn of_mut(&mut self, key: RunKey) -> Stored<&mut Run> {
        usize::try_from(key.0).ok().and_then(|at| self.runs.get_mut(at)).ok_or_else(no_such_key)
    }

    fn whole(&self, event: &Event) -> Stored<Record> {
        let texts = event.blobs.iter().map(|(offset, digest)| Some((*offset, self.blobs.get(digest)?.clone())));
        let body = texts.collect::<Option<Vec<_>>>().and_then(|texts| unfold(&event.record.body, &texts));
        let body = body.ok_or_else(|| Failure::Contents("a blob is missing".to_owned()))?;
        Ok(Record { body, ..event.record.clone() })
    }
}

fn no_such_key() -> Failure {
    Failure::Contents("a run has no row".to_owned())
}

impl Views for Memory {
    fn run(&self, run: &RunId) -> Stored<Option<RunRow>> {
        self.keys.get(run).map(|key| Ok(self.of(*key)?.row.clone())).transpose()
    }

    fn runs(&self, filter: &RunFilter) -> Stored<Vec<RunRow>> {
        let wanted = self.runs.iter().map(|run| &run.row).filter(|row| filter.which.holds(row.state.status.as_deref()));
        let mut rows: Vec<&RunRow> = wanted.collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.created_ms, row.key.0)));
        Ok(rows.into_iter().take(filter.limit as usize).cloned().collect())
    }

    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> Stored<Vec<RunId>> {
        let from = self.keys.range(RunId::from(prefix)..).map(|(run, _)| run);
        Ok(from.take_while(|run| run.as_str().starts_with(prefix)).take(limit as usize).cloned().collect())
    }

    fn events(&self, key: RunKey, from_seq: u64) -> Stored<Vec<Record>> {
        let events = self.of(key)?.events.iter().filter(|event| event.record.seq >= from_seq);
        events.map(|event| self.whole(event)).collect()
    }

    fn due(&self, key: RunKey) -> Stored<Vec<(u64, Due)>> {
        let events = self.of(key)?.events.iter();
        Ok(events.flat_map(|event| event.due.iter().map(|due| (event.record.seq, due.clone()))).collect())
    }

    fn claims(&self, key: RunKey) -> Stored<Vec<String>> {
        Ok(self.of(key)?.claims.iter().cloned().collect())
    }

    fn unread(&self, key: RunKey, after: SignalId) -> Stored<Vec<Letter>> {
        let letters = self.of(key)?.unread.values();
        Ok(letters.filter(|letter| letter.id > after).cloned().collect())
    }

    fn snapshot(&self, key: RunKey) -> Stored<Option<Snapshot>> {
        Ok(self.of(key)?.snapshot.clone())
    }

    fn lessons(&self, limit: u32) -> Stored<Vec<Lesson>> {
        let mut lessons: Vec<_> = self.lessons.iter().collect();
        lessons.sort_by_key(|(_, (at_ms, _))| std::cmp::Reverse(*at_ms));
        let lesson = |([producer, consumer, parameter], (_, expression)): (&[String; 3], &(i64, String))| Lesson {
            producer: producer.clone(),
            consumer: consumer.clone(),
            parameter: parameter.clone(),
            expression: expression.clone(),
        };
        Ok(lessons.into_iter().take(limit as usize).map(lesson).collect())
    }
}

impl Tables for Memory {
    fn add_run(&mut self, run: &RunId, title: &str, created_ms: i64, state: &RunState) -> Stored<RunKey> {
        let key = RunKey(i64::try_from(self.runs.len()).unwrap_or(i64::MAX));
        let row = RunRow { key, run: run.clone(), title: title.to_owned(), created_ms, state: state.clone() };
        let (events, claims, unread) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        self.runs.push(Run { row, events, claims, unread, snapshot: None });
        self.keys.insert(run.clone(), key);
        Ok(key)
    }

    fn set_run(&mut self, key: RunKey, state: &RunState) -> Stored<()> {
        self.of_mut(key)?.row.state = state.clone();
        Ok(())
    }

    fn add_event(&mut self, key: RunKey, seq: u64, event: &Folded) -> Stored<()> {
        let Folded { event, blobs } = event;
        for blob in blobs {
            self.blobs.entry(blob.digest.clone()).or_insert_with(|| blob.text.clone());
        }
        let record = Record { seq, at_ms: event.at_ms, kind: event.kind.clone(), body: event.body.clone() };
        let blobs = blobs.iter().map(|blob| (blob.offset, blob.digest.clone())).collect();
        self.of_mut(key)?.events.push(Event { record, due: event.due.clone(), blobs });
        Ok(())
    }

    fn add_claim(&mut self, key: RunKey, effect: &str, _epoch: u64) -> Stored<Claim> {
        let fresh = self.of_mut(key)?.claims.insert(effect.to_owned());
        Ok(if fresh { Claim::Fresh } else { Claim::Already })
    }

    fn add_signal(&mut self, key: RunKey, signal: &Signal, at_ms: i64) -> Stored<SignalId> {
        self.signals += 1;
        let id = SignalId(self.signals);
        self.of_mut(key)?.unread.insert(id, Letter { id, at_ms, signal: signal.clone() });
        Ok(id)
    }

    fn consume(&mut self, key: RunKey, id: SignalId, _len: u64) -> Stored<()> {
        self.of_mut(key)?.unread.remove(&id);
        Ok(())
    }

    fn set_snapshot(&mut self, key: RunKey, snapshot: &Snapshot) -> Stored<()> {
        self.of_mut(key)?.snapshot = Some(snapshot.clone());
        Ok(())
    }

    fn set_lesson(&mut self, lesson: &Lesson, at_ms: i64) -> Stored<()> {
        let Lesson { producer, consumer, parameter, expression } = lesson.clone();
        self.lessons.insert([producer, consumer, parameter], (at_ms, expression));
        Ok(())
    }
}
