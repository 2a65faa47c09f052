//! What runs want to change in the file with rules, until a background task has written it.

use std::collections::BTreeMap;

use reknit_engine::{Machine, Policy, Run};
use reknit_mend::{BookChange, LearnedRule, RuleBook};
use reknit_protocol::RunId;

use crate::telemetry::log::TARGET;

/// The most runs whose corrections wait. More of them teach nothing: the corrections are in the journal.
const MAX_RUNS: usize = 100;

/// A rule that a tool rejected in a run.
#[derive(Debug, Clone)]
pub(super) struct RejectedRule {
    /// The rule as the run had it.
    rule: LearnedRule,
    run: String,
    error: String,
}

impl RejectedRule {
    #[cfg(test)]
    pub(super) fn new(rule: LearnedRule, run: &str, error: &str) -> Self {
        Self { rule, run: run.to_owned(), error: error.to_owned() }
    }

    /// The rejected rules of a run or session.
    pub(super) fn of_machine(machine: &Machine) -> Vec<Self> {
        Self::of_policy(machine.rejected_rules(), machine.policy(), machine.id())
    }

    /// The rejected rules of a run that started with a policy, by their ids, each with the error.
    pub(super) fn of_policy(rejected: &BTreeMap<String, String>, policy: &Policy, run: &RunId) -> Vec<Self> {
        let rules = rejected.iter().filter_map(|(id, error)| {
            let rule = policy.rules.iter().find(|rule| rule.id == *id)?.clone();
            Some(Self { rule, run: run.to_string(), error: error.clone() })
        });
        rules.collect()
    }

    /// Whether this rejection is known, or is about a rule that is not there any more.
    pub(super) fn is_known_in(&self, book: &RuleBook) -> bool {
        let known = book.get(&self.rule.id).filter(|known| known.has_same_content(&self.rule));
        known.is_none_or(|known| known.evidence.rejections.contains(&self.run))
    }

    pub(super) fn apply(&self, book: &mut RuleBook) -> Option<BookChange> {
        book.reject(&self.rule, &self.run, &self.error)
    }
}

/// What waits to be written.
#[derive(Debug, Default)]
pub(super) struct WaitingChanges {
    /// Rules that no run starts with, also if the file cannot be written.
    rejections: Vec<RejectedRule>,
    runs: Vec<Run>,
    /// How many rejections were added and written so far.
    changes: u64,
    number: u64,
    /// Changes up to this number were tried.
    tried: u64,
    is_writing: bool,
}

/// What is written at once.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) rejections: Vec<RejectedRule>,
    pub(super) runs: Vec<Run>,
    pub(super) number: u64,
}

impl WaitingChanges {
    pub(super) fn add_rejections(&mut self, rejections: Vec<RejectedRule>) {
        for new in rejections {
            let is_known =
                |known: &RejectedRule| known.rule.id == new.rule.id && known.run == new.run && known.rule == new.rule;
            if !self.rejections.iter().any(is_known) {
                self.changes += 1;
                self.rejections.push(new);
            }
        }
    }

    pub(super) fn add_run(&mut self, run: &Run) {
        if self.runs.len() < MAX_RUNS {
            self.runs.push(run.clone());
        } else {
            let id = &run.started().run;
            tracing::warn!(target: TARGET, run = %id, "no rule learns from the run: too many others wait");
        }
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Whether the caller has to start a task that writes.
    pub(super) fn start_writing(&mut self) -> bool {
        !std::mem::replace(&mut self.is_writing, true)
    }

    /// What is to be written next. `None` ends the task.
    pub(super) fn take_batch(&mut self) -> Option<Batch> {
        if self.tried == self.number {
            self.is_writing = false;
            return None;
        }
        let (rejections, runs) = (self.rejections.clone(), std::mem::take(&mut self.runs));
        Some(Batch { rejections, runs, number: self.number })
    }

    /// What could not be written is tried again together with the next change, but lessons are lost.
    pub(super) fn end_batch(&mut self, batch: &Batch, is_written: bool) {
        self.tried = batch.number;
        if is_written {
            self.rejections.drain(..batch.rejections.len().min(self.rejections.len()));
            self.changes += 1;
        }
    }

    /// Ends the task without having written; returns the number of the last change.
    pub(super) fn give_up(&mut self) -> u64 {
        (self.is_writing, self.tried) = (false, self.number);
        self.number
    }

    /// A number that changes with the rules that wait to be retired.
    pub(super) fn rejections_so_far(&self) -> u64 {
        self.changes
    }

    /// Whether a rule waits to be retired. A rule under the same id that does something else does not.
    pub(super) fn is_rejected(&self, rule: &LearnedRule) -> bool {
        self.rejections.iter().any(|rejected| rejected.rule.id == rule.id && rejected.rule.has_same_content(rule))
    }
}
