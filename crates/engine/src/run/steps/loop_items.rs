//! The steps for the items of one loop.

use std::collections::BTreeSet;

use reknit_plan::StepIndex;

use crate::run::state::Stage;

/// The items of a loop that have become steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::run) struct LoopItems {
    /// The steps, by the position of their item in the list.
    indices: Vec<StepIndex>,
    /// Those that have not been released.
    held: BTreeSet<StepIndex>,
    in_progress: usize,
    done: usize,
    failed: usize,
}

impl LoopItems {
    pub(super) const fn new() -> Self {
        Self { indices: Vec::new(), held: BTreeSet::new(), in_progress: 0, done: 0, failed: 0 }
    }

    pub(in crate::run) fn indices(&self) -> &[StepIndex] {
        &self.indices
    }

    /// How many items have become steps.
    pub(in crate::run) fn count(&self) -> usize {
        self.indices.len()
    }

    /// How many items are neither held nor over.
    pub(in crate::run) fn in_progress(&self) -> usize {
        self.in_progress
    }

    pub(in crate::run) fn done(&self) -> usize {
        self.done
    }

    pub(in crate::run) fn failed(&self) -> usize {
        self.failed
    }

    pub(in crate::run) fn first_held(&self) -> Option<StepIndex> {
        self.held.first().copied()
    }

    /// Whether every item that has become a step is over.
    pub(in crate::run) fn is_over(&self) -> bool {
        self.held.is_empty() && self.in_progress == 0
    }

    pub(super) fn add(&mut self, index: StepIndex) {
        self.indices.push(index);
    }

    /// A held item may start: from now on it is in progress.
    pub(super) fn release(&mut self, index: StepIndex) {
        if self.held.remove(&index) {
            self.in_progress += 1;
        }
    }

    pub(super) fn enter(&mut self, index: StepIndex, stage: &Stage) {
        match stage {
            Stage::Waiting => _ = self.held.insert(index),
            Stage::Done(_) => self.done += 1,
            Stage::Failed { .. } | Stage::Unconfirmed { .. } | Stage::Skipped { .. } => self.failed += 1,
            Stage::SkippedByCondition { .. } => {}
            _ => self.in_progress += 1,
        }
    }

    pub(super) fn leave(&mut self, index: StepIndex, stage: &Stage) {
        match stage {
            Stage::Waiting if self.held.remove(&index) => {}
            Stage::Done(_) => self.done -= 1,
            Stage::Failed { .. } | Stage::Unconfirmed { .. } | Stage::Skipped { .. } => self.failed -= 1,
            Stage::SkippedByCondition { .. } => {}
            _ => self.in_progress -= 1,
        }
    }
}
