//! Who waits for what: which steps can be taken further, which want something done, how many are over.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::StepRun;
use crate::run::state::Stage;
use reknit_plan::Checked;

/// Follows from the plan and the stages of its steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Agenda {
    /// The steps that need a step.
    needed_by: Arc<[Vec<usize>]>,
    /// How many of the steps that a step needs are not done.
    missing: Vec<usize>,
    /// The waiting steps of which it is decided whether they can start.
    decided: BTreeSet<usize>,
    queued: BTreeSet<usize>,
    /// The steps that want something done.
    acting: BTreeSet<usize>,
    calling: usize,
    deciding: usize,
    over: usize,
}

impl Agenda {
    pub(super) fn new(plan: &Checked, steps: &[StepRun]) -> Self {
        let mut needed_by = vec![Vec::new(); steps.len()];
        for (index, planned) in plan.steps.iter().enumerate() {
            for needed in &planned.needs_at {
                if let Some(list) = needed_by.get_mut(*needed) {
                    list.push(index);
                }
            }
        }
        let missing = plan.steps.iter().map(|planned| planned.needs_at.len()).collect();
        let mut agenda = Self { needed_by: needed_by.into(), missing, ..Self::default() };
        for (index, _) in steps.iter().enumerate() {
            agenda.enter(index, steps);
        }
        agenda
    }

    /// A step has left one stage for the one it is in now.
    pub(super) fn moved(&mut self, index: usize, before: &Stage, steps: &[StepRun]) {
        self.leave(index, before);
        self.enter(index, steps);
    }

    pub(super) fn next_to_move(&self, from: usize, calls_at_once: u32) -> Option<usize> {
        let has_place = self.calling < calls_at_once as usize;
        let queued = self.queued.range(from..).next().filter(|_| has_place);
        self.decided.range(from..).next().into_iter().chain(queued).min().copied()
    }

    pub(super) fn acting(&self) -> impl Iterator<Item = usize> {
        self.acting.iter().copied()
    }

    pub(super) fn over(&self) -> usize {
        self.over
    }

    pub(super) fn waits_for_person(&self) -> bool {
        self.deciding > 0 && self.queued.is_empty() && self.acting.len() == self.deciding
    }

    fn leave(&mut self, index: usize, stage: &Stage) {
        match stage {
            Stage::Waiting => _ = self.decided.remove(&index),
            Stage::Queued => _ = self.queued.remove(&index),
            Stage::Calling(_) => self.calling -= 1,
            Stage::Deciding { .. } => self.deciding -= 1,
            Stage::Stopping(_) | Stage::Resting { .. } | Stage::Advising { .. } => {}
            Stage::Done(_) | Stage::Failed { .. } | Stage::Skipped { .. } => self.over -= 1,
        }
        self.acting.remove(&index);
    }

    fn enter(&mut self, index: usize, steps: &[StepRun]) {
        let Some(step) = steps.get(index) else { return };
        match &step.stage {
            Stage::Waiting if self.missing.get(index) == Some(&0) => _ = self.decided.insert(index),
            Stage::Waiting => {}
            Stage::Queued => _ = self.queued.insert(index),
            Stage::Calling(_) => {
                self.calling += 1;
                self.acting.insert(index);
            }
            Stage::Deciding { .. } => {
                self.deciding += 1;
                self.acting.insert(index);
            }
            Stage::Stopping(_) | Stage::Resting { .. } | Stage::Advising { .. } => _ = self.acting.insert(index),
            Stage::Done(_) => {
                self.over += 1;
                self.decide(index, steps, Need::Met);
            }
            Stage::Failed { .. } | Stage::Skipped { .. } => {
                self.over += 1;
                self.decide(index, steps, Need::Lost);
            }
        }
    }

    /// Tells the steps that need this one. One lost need decides; otherwise the last of them does.
    fn decide(&mut self, index: usize, steps: &[StepRun], need: Need) {
        let needed_by = Arc::clone(&self.needed_by);
        for other in needed_by.get(index).into_iter().flatten() {
            let Some(missing) = self.missing.get_mut(*other) else { continue };
            *missing -= usize::from(need == Need::Met);
            let waits = steps.get(*other).is_some_and(|step| matches!(step.stage, Stage::Waiting));
            if waits && (need == Need::Lost || *missing == 0) {
                self.decided.insert(*other);
            }
        }
    }
}

/// What became of a step that another one needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Met,
    Lost,
}
