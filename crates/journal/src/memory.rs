//! The tables in memory, for tests and for runs that need not be resumed.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::Path;

use reknit_protocol::RunId;

use crate::blob::{SplitEvent, SplitText, join_body};
use crate::error::storage::{StoreFailure, StoreResult};
use crate::retention::EndOrder;
use crate::spending::RunSpending;
use crate::tables::{ReadTables, RunKey, RunRow, SplitSnapshot, WriteTables};
use crate::{
    ClaimOutcome, DueEffect, InboxMessage, LearnedMapping, PrunedRun, RunFilter, RunSignal, RunSummary, SignalId,
    Snapshot, Spending, StorageError, StoreSize, StoredEvent, StoredKey, StoredMapping,
};

/// Stands for the path of a journal in memory in errors.
pub(crate) const IN_MEMORY: &str = "(memory)";

pub(crate) fn in_memory(failure: StoreFailure) -> StorageError {
    StorageError::new(Path::new(IN_MEMORY), failure)
}

/// How many ids of forgotten runs are remembered.
const MAX_PRUNED: usize = 100_000;

/// The tables in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryTables {
    /// By key.
    runs: BTreeMap<i64, Run>,
    next_key: i64,
    keys: BTreeMap<RunId, RunKey>,
    /// The text of each blob, and how many events have it.
    blobs: HashMap<String, (String, usize)>,
    /// The runs that may be forgotten, in the order of their ends.
    ended: BTreeSet<EndOrder>,
    /// How many of them are kept.
    max_ended: usize,
    pruned: BTreeMap<RunId, PrunedRun>,
    /// The ids of `pruned`, in the order in which they came.
    pruned_order: VecDeque<RunId>,
    last_signal_id: u64,
    /// By producer, consumer and parameter.
    learned_mappings: BTreeMap<[String; 3], LearnedMapping>,
    business_keys: BTreeMap<String, StoredKey>,
    /// By account and month.
    spending: BTreeMap<[String; 2], Spending>,
}

#[derive(Debug)]
struct Run {
    row: RunRow,
    request: String,
    events: Vec<Event>,
    claims: BTreeSet<String>,
    pending: BTreeMap<SignalId, InboxMessage>,
    snapshot: Option<Snapshot>,
    ending: Option<String>,
    spending: Option<RunSpending>,
}

#[derive(Debug)]
struct Event {
    /// The event without its blobs.
    stored: StoredEvent,
    due: Vec<DueEffect>,
    /// The offset and the digest of each blob.
    blobs: Vec<(usize, String)>,
}

impl MemoryTables {
    /// Tables that forget ended runs beyond a number of them.
    pub(crate) fn keeping(max_ended: usize) -> Self {
        Self { max_ended, ..Self::default() }
    }

    fn find_run(&self, key: RunKey) -> StoreResult<&Run> {
        self.runs.get(&key.0).ok_or_else(no_such_key)
    }

    fn find_run_mut(&mut self, key: RunKey) -> StoreResult<&mut Run> {
        self.runs.get_mut(&key.0).ok_or_else(no_such_key)
    }

    /// Forgets the runs that ended first, if more have ended than are kept.
    fn forget_ended(&mut self, now_ms: i64) -> StoreResult<()> {
        while self.ended.len() > self.max_ended {
            let Some((ended_ms, key)) = self.ended.first().copied() else { break };
            let run = self.find_run(RunKey(key))?;
            let (summary, request) = (&run.row.summary, Some(run.request.clone()));
            let status = summary.status.clone().unwrap_or_default();
            let pruned = PrunedRun { run: summary.run.clone(), request, status, ended_ms, pruned_ms: now_ms };
            self.remove_run(RunKey(key))?;
            self.add_pruned(&pruned)?;
        }
        Ok(())
    }

    fn with_blobs(&self, event: &Event) -> StoreResult<StoredEvent> {
        let texts = event.blobs.iter().map(|(offset, digest)| Some((*offset, self.blobs.get(digest)?.0.clone())));
        let body = texts.collect::<Option<Vec<_>>>().and_then(|texts| join_body(&event.stored.body, &texts));
        let body = body.ok_or_else(|| StoreFailure::Contents("a blob is missing".to_owned()))?;
        Ok(StoredEvent { body, ..event.stored.clone() })
    }
}

fn whole_text(text: &SplitText) -> StoreResult<String> {
    text.join().ok_or_else(|| StoreFailure::Contents("a blob lies outside its text".to_owned()))
}

fn no_such_key() -> StoreFailure {
    StoreFailure::Contents("a run has no row".to_owned())
}

impl ReadTables for MemoryTables {
    fn run(&self, run: &RunId) -> StoreResult<Option<RunRow>> {
        self.keys.get(run).map(|key| Ok(self.find_run(*key)?.row.clone())).transpose()
    }

    fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>> {
        let order = |row: &RunRow| (row.summary.created_ms, row.key.0);
        let after = filter.after.as_ref().map(|after| self.run(after)).transpose()?;
        // Nothing comes after a run that does not exist.
        let is_older = |row: &RunRow| match &after {
            None => true,
            Some(after) => after.as_ref().is_some_and(|after| order(row) < order(after)),
        };
        let matching = |row: &&RunRow| is_older(row) && filter.matches(&row.summary);
        let mut rows: Vec<&RunRow> = self.runs.values().map(|run| &run.row).filter(matching).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(order(row)));
        Ok(rows.into_iter().take(filter.limit as usize).cloned().collect())
    }

    fn request_of(&self, key: RunKey) -> StoreResult<Option<String>> {
        Ok(Some(self.find_run(key)?.request.clone()))
    }

    fn first_ended(&self, limit: u32) -> StoreResult<Vec<RunRow>> {
        let oldest = self.ended.iter().take(limit as usize);
        oldest.map(|(_, key)| Ok(self.find_run(RunKey(*key))?.row.clone())).collect()
    }

    fn end_order_beyond(&self, keep: u64) -> StoreResult<Option<EndOrder>> {
        Ok(self.ended.iter().rev().nth(usize::try_from(keep).unwrap_or(usize::MAX)).copied())
    }

    fn ended_count(&self) -> StoreResult<u64> {
        Ok(self.ended.len() as u64)
    }

    fn ended_up_to(&self, end: EndOrder) -> StoreResult<u64> {
        Ok(self.ended.range(..=end).count() as u64)
    }

    fn pruned_run(&self, run: &RunId) -> StoreResult<Option<PrunedRun>> {
        Ok(self.pruned.get(run).cloned())
    }

    fn size(&self) -> StoreResult<StoreSize> {
        Ok(StoreSize::default())
    }

    fn expired_keys(&self, until_ms: i64, limit: u32) -> StoreResult<Vec<String>> {
        let expired = self.business_keys.iter().filter(|(_, key)| key.until_ms() <= until_ms);
        Ok(expired.take(limit as usize).map(|(key, _)| key.clone()).collect())
    }

    fn run_count(&self) -> StoreResult<u64> {
        Ok(self.runs.len() as u64)
    }

    fn runs_with_prefix(&self, prefix: &str, limit: u32) -> StoreResult<Vec<RunId>> {
        let from = self.keys.range(RunId::from(prefix)..).map(|(run, _)| run);
        Ok(from.take_while(|run| run.as_str().starts_with(prefix)).take(limit as usize).cloned().collect())
    }

    fn runs_with_suffix(&self, suffix: &str, limit: u32) -> StoreResult<Vec<RunId>> {
        let runs = self.keys.keys().filter(|run| run.as_str().ends_with(suffix));
        Ok(runs.take(limit as usize).cloned().collect())
    }

    fn events(&self, key: RunKey, from_seq: u64, limit: u32) -> StoreResult<Vec<StoredEvent>> {
        let from = usize::try_from(from_seq).unwrap_or(usize::MAX);
        let events = self.find_run(key)?.events.iter().skip(from).take(limit as usize);
        events.map(|event| self.with_blobs(event)).collect()
    }

    fn positions_of_kind(&self, key: RunKey, kind: &str, from_seq: u64) -> StoreResult<Vec<u64>> {
        let from = usize::try_from(from_seq).unwrap_or(usize::MAX);
        let events = self.find_run(key)?.events.iter().skip(from).map(|event| &event.stored);
        Ok(events.filter(|event| event.kind == kind).map(|event| event.seq).collect())
    }

    fn due_effects(&self, key: RunKey) -> StoreResult<Vec<(u64, DueEffect)>> {
        let events = self.find_run(key)?.events.iter();
        Ok(events.flat_map(|event| event.due.iter().map(|due| (event.stored.seq, due.clone()))).collect())
    }

    fn claims(&self, key: RunKey) -> StoreResult<Vec<String>> {
        Ok(self.find_run(key)?.claims.iter().cloned().collect())
    }

    fn pending_messages(&self, key: RunKey, after: SignalId) -> StoreResult<Vec<InboxMessage>> {
        let messages = self.find_run(key)?.pending.values();
        Ok(messages.filter(|message| message.id > after).cloned().collect())
    }

    fn snapshot(&self, key: RunKey) -> StoreResult<Option<Snapshot>> {
        Ok(self.find_run(key)?.snapshot.clone())
    }

    fn ending(&self, key: RunKey, _len: u64) -> StoreResult<Option<String>> {
        Ok(self.find_run(key)?.ending.clone())
    }

    fn learned_mappings(&self, limit: u32) -> StoreResult<Vec<LearnedMapping>> {
        let mut mappings: Vec<_> = self.learned_mappings.values().collect();
        mappings.sort_by_key(|learned| (learned.accepted_ms.is_none(), std::cmp::Reverse(learned.learned_ms)));
        Ok(mappings.into_iter().take(limit as usize).cloned().collect())
    }

    fn business_key(&self, key: &str) -> StoreResult<Option<StoredKey>> {
        Ok(self.business_keys.get(key).cloned())
    }

    fn business_keys(&self) -> StoreResult<Vec<StoredKey>> {
        let mut keys: Vec<StoredKey> = self.business_keys.values().cloned().collect();
        keys.sort_by_key(|key| std::cmp::Reverse(key.since_ms));
        Ok(keys)
    }

    fn spending(&self, account: &str, month: &str) -> StoreResult<Spending> {
        Ok(self.spending.get(&[account.to_owned(), month.to_owned()]).copied().unwrap_or_default())
    }

    fn run_spending(&self, key: RunKey) -> StoreResult<Option<RunSpending>> {
        Ok(self.find_run(key)?.spending.clone())
    }
}

impl WriteTables for MemoryTables {
    fn add_run(&mut self, run: &RunSummary, request: &str) -> StoreResult<RunKey> {
        let key = RunKey(self.next_key);
        self.next_key += 1;
        let row = RunRow { key, summary: run.clone() };
        let (events, claims, pending) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        let (snapshot, ending, spending, request) = (None, None, None, request.to_owned());
        let new = Run { row, request, events, claims, pending, snapshot, ending, spending };
        self.runs.insert(key.0, new);
        self.keys.insert(run.run.clone(), key);
        Ok(key)
    }

    fn set_run(&mut self, key: RunKey, run: &RunSummary) -> StoreResult<()> {
        let before = std::mem::replace(&mut self.find_run_mut(key)?.row.summary, run.clone());
        self.ended.remove(&(before.updated_ms, key.0));
        if run.status.is_some() {
            self.ended.insert((run.updated_ms, key.0));
            self.forget_ended(run.updated_ms)?;
        }
        Ok(())
    }

    fn remove_run(&mut self, key: RunKey) -> StoreResult<u64> {
        let run = self.runs.remove(&key.0).ok_or_else(no_such_key)?;
        self.ended.remove(&(run.row.summary.updated_ms, key.0));
        self.keys.remove(&run.row.summary.run);
        let mut removed = 0;
        for (_, digest) in run.events.iter().flat_map(|event| &event.blobs) {
            let Some((_, uses)) = self.blobs.get_mut(digest) else { continue };
            *uses -= 1;
            if *uses == 0 {
                self.blobs.remove(digest);
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn add_pruned(&mut self, pruned: &PrunedRun) -> StoreResult<()> {
        self.pruned.insert(pruned.run.clone(), pruned.clone());
        self.pruned_order.push_back(pruned.run.clone());
        if self.pruned_order.len() > MAX_PRUNED
            && let Some(oldest) = self.pruned_order.pop_front()
        {
            self.pruned.remove(&oldest);
        }
        Ok(())
    }

    fn release_pages(&mut self, _pages: u32) -> StoreResult<u64> {
        Ok(0)
    }

    fn add_event(&mut self, key: RunKey, seq: u64, event: &SplitEvent) -> StoreResult<()> {
        let SplitEvent { event, blobs } = event;
        for blob in blobs {
            self.blobs.entry(blob.digest.clone()).or_insert_with(|| (blob.text.clone(), 0)).1 += 1;
        }
        let stored = StoredEvent { seq, at_ms: event.at_ms, kind: event.kind.clone(), body: event.body.clone() };
        let blobs = blobs.iter().map(|blob| (blob.offset, blob.digest.clone())).collect();
        self.find_run_mut(key)?.events.push(Event { stored, due: event.due.clone(), blobs });
        Ok(())
    }

    fn add_claim(&mut self, key: RunKey, _len: u64, effect: &str, _epoch: u64) -> StoreResult<ClaimOutcome> {
        let is_new = self.find_run_mut(key)?.claims.insert(effect.to_owned());
        Ok(if is_new { ClaimOutcome::New } else { ClaimOutcome::AlreadyClaimed })
    }

    fn add_signal(&mut self, key: RunKey, signal: &RunSignal, at_ms: i64) -> StoreResult<SignalId> {
        self.last_signal_id += 1;
        let id = SignalId(self.last_signal_id);
        self.find_run_mut(key)?.pending.insert(id, InboxMessage { id, at_ms, signal: signal.clone() });
        Ok(id)
    }

    fn consume(&mut self, key: RunKey, id: SignalId, _len: u64) -> StoreResult<()> {
        self.find_run_mut(key)?.pending.remove(&id);
        Ok(())
    }

    fn set_snapshot(&mut self, key: RunKey, snapshot: &SplitSnapshot) -> StoreResult<()> {
        let SplitSnapshot { len, machine_version, body } = snapshot;
        let snapshot = Snapshot { len: *len, machine_version: *machine_version, body: whole_text(body)? };
        self.find_run_mut(key)?.snapshot = Some(snapshot);
        Ok(())
    }

    fn remove_snapshot(&mut self, key: RunKey) -> StoreResult<()> {
        self.find_run_mut(key)?.snapshot = None;
        Ok(())
    }

    fn set_ending(&mut self, key: RunKey, _len: u64, result: &SplitText) -> StoreResult<()> {
        self.find_run_mut(key)?.ending = Some(whole_text(result)?);
        Ok(())
    }

    fn set_spending(&mut self, account: &str, month: &str, spending: Spending) -> StoreResult<()> {
        self.spending.insert([account.to_owned(), month.to_owned()], spending);
        Ok(())
    }

    fn set_run_spending(&mut self, key: RunKey, spending: Option<&RunSpending>) -> StoreResult<()> {
        self.find_run_mut(key)?.spending = spending.cloned();
        Ok(())
    }

    fn set_business_key(&mut self, key: &StoredKey) -> StoreResult<()> {
        self.business_keys.insert(key.claim.key.clone(), key.clone());
        Ok(())
    }

    fn remove_business_key(&mut self, key: &str) -> StoreResult<bool> {
        Ok(self.business_keys.remove(key).is_some())
    }

    fn set_learned_mapping(&mut self, mapping: &StoredMapping, at_ms: i64) -> StoreResult<()> {
        let key = mapping_key(mapping);
        if self.learned_mappings.get(&key).is_none_or(|known| known.accepted_ms.is_none()) {
            let learned = LearnedMapping { mapping: mapping.clone(), learned_ms: at_ms, accepted_ms: None };
            self.learned_mappings.insert(key, learned);
        }
        Ok(())
    }

    fn accept_mapping(&mut self, mapping: &StoredMapping, at_ms: i64) -> StoreResult<bool> {
        let known = self.learned_mappings.get_mut(&mapping_key(mapping)).filter(|known| known.mapping == *mapping);
        Ok(known.map(|known| known.accepted_ms.get_or_insert(at_ms)).is_some())
    }

    fn remove_mapping(&mut self, mapping: &StoredMapping) -> StoreResult<bool> {
        let key = mapping_key(mapping);
        let is_there = self.learned_mappings.get(&key).is_some_and(|known| known.mapping == *mapping);
        Ok(is_there && self.learned_mappings.remove(&key).is_some())
    }
}

fn mapping_key(mapping: &StoredMapping) -> [String; 3] {
    let StoredMapping { producer, consumer, parameter, .. } = mapping;
    [producer, consumer, parameter].map(Clone::clone)
}
