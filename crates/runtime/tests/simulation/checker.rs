//! Checks the invariants of ARCHITECTURE.md after every write to the journal, and at every call. It keeps a machine of its own
//! for each run, to which it applies the events as they are committed.

mod calls;
mod driver_ends;
mod run_check;

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use reknit_engine::Effect;
use reknit_journal::{Journal, RunFilter, RunSummary};
use reknit_protocol::EffectId;

use crate::process::{Process, Status};
pub(crate) use run_check::RunCheck;

/// What is wrong.
pub(crate) type Checked = Result<(), String>;

/// Something that happened to a process while it drove a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mishap {
    pub(crate) at_ms: u64,
    pub(crate) pid: u32,
    pub(crate) run: String,
    pub(crate) kind: MishapKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MishapKind {
    /// Another process took the run over.
    LostLease,
    /// The future that drives the run was dropped.
    Dropped,
}

/// Checks the invariants.
#[derive(Debug)]
pub(crate) struct Checker {
    journal: Journal,
    pub(crate) runs: BTreeMap<String, RunCheck>,
    pub(crate) mishaps: Vec<Mishap>,
}

/// What an observation saw, to count and to trace it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) counts: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl Checker {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, runs: BTreeMap::new(), mishaps: Vec::new() }
    }

    /// Checks what a process has just written.
    pub(crate) fn observe(
        &mut self,
        process: &Process,
        operation: &str,
        now_ms: u64,
        is_alive: impl Fn(u32) -> bool,
    ) -> Result<Seen, String> {
        let mut seen = Seen::default();
        if process.status() != Status::Running {
            return Err(format!("p{} writes although it does not run", process.pid));
        }
        let summaries = ready(self.journal.runs(&RunFilter::newest(100))).map_err(|error| error.to_string())?;
        for summary in summaries {
            let id = summary.run.to_string();
            let Some(run) = self.runs.get_mut(&id) else {
                let run = RunCheck::begin(&self.journal, summary)?;
                self.runs.insert(id, run);
                continue;
            };
            if run.summary == summary && operation != "claim" {
                continue;
            }
            let in_run = |problem: String| format!("{id}: {problem}");
            if let Some(loss) = lease_change(run, &summary, process, now_ms).map_err(in_run)? {
                seen.counts.push(if is_alive(loss.pid) {
                    "take-over after expiry".to_owned()
                } else {
                    "take-over from a dead process".to_owned()
                });
                self.mishaps.push(loss);
            }
            if summary.len > run.summary.len {
                run.add_events(&self.journal, process, &summary, &self.mishaps, now_ms, &mut seen).map_err(in_run)?;
            }
            if ["claim", "append"].contains(&operation) {
                run.add_claims(&self.journal, process.pid).map_err(in_run)?;
            }
            run.check_end(&summary).map_err(in_run)?;
            run.summary = summary;
        }
        Ok(seen)
    }

    /// The questions to people that are open: the run, and the effect.
    pub(crate) fn open_questions(&self) -> Vec<(String, reknit_engine::AskPerson)> {
        let asks = self.runs.iter().flat_map(|(id, run)| run.pending.iter().map(move |effect| (id, effect)));
        asks.filter_map(|(id, effect)| match effect {
            Effect::AskPerson(ask) => Some((id.clone(), ask.as_ref().clone())),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn has_mishap(&self, pid: u32, run: &str, from_ms: u64, to_ms: u64) -> bool {
        let is_it =
            |mishap: &Mishap| mishap.pid == pid && mishap.run == run && (from_ms..=to_ms).contains(&mishap.at_ms);
        self.mishaps.iter().any(is_it)
    }

    /// A process has got the result of a call.
    pub(crate) fn add_result(&mut self, pid: u32, run: &str, effect: &EffectId, now_ms: u64) {
        if let Some(run) = self.runs.get_mut(run) {
            run.results.insert((pid, effect.to_string()), now_ms);
        }
    }

    /// Checks that a replay of each run gives the state that its machine has.
    pub(crate) fn check_replays(&self) -> Checked {
        self.runs
            .iter()
            .try_for_each(|(id, run)| run.check_replay(&self.journal).map_err(|problem| format!("{id}: {problem}")))
    }
}

/// Checks the lease of a run; returns the loss if a process lost it.
fn lease_change(run: &RunCheck, new: &RunSummary, process: &Process, now_ms: u64) -> Result<Option<Mishap>, String> {
    let old = &run.summary;
    if new.epoch < old.epoch {
        return Err(format!("the epoch went back from {} to {}", old.epoch, new.epoch));
    }
    let (Some(before), Some(after)) = (&old.lease, &new.lease) else { return Ok(None) };
    if before.epoch == after.epoch {
        if before != after && after.holder.pid != process.pid {
            return Err(format!("p{} renewed the lease of p{}", process.pid, after.holder.pid));
        }
        return Ok(None);
    }
    if after.holder.pid != process.pid {
        return Err(format!("p{} leased the run to p{}", process.pid, after.holder.pid));
    }
    let pid = before.holder.pid;
    Ok(Some(Mishap { at_ms: now_ms, pid, run: old.run.to_string(), kind: MishapKind::LostLease }))
}

/// The result of a read that never waits.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the observer's journal never waits"),
    }
}
