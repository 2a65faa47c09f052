//! An index over the steps: which can proceed, which have effects due, how many are over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reknit_plan::{CheckedPlan, PlannedStep, StepIndex};

use super::{StepRun, missing};
use crate::internal_error::Decided;
use crate::record::WaitReason;
use crate::run::stage::Stage;

/// Follows from the plan and the stages of its steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::run) struct ReadyIndex {
    dependents: Arc<[Vec<StepIndex>]>,
    /// For each step, whether the steps that need it go on if it fails.
    may_fail: Arc<[bool]>,
    /// For each step, how many of its dependencies are not settled.
    open_dependencies: Vec<usize>,
    /// The waiting steps that can start, or can never start.
    decided: BTreeSet<StepIndex>,
    queued: BTreeSet<StepIndex>,
    /// The steps that have effects due.
    acting: BTreeSet<StepIndex>,
    calling: usize,
    awaiting_approval: usize,
    /// Those that wait for the end of a job, or before the next call of an `until` or a `verify`.
    awaiting_others: usize,
    over: usize,
    loops_of_items: Vec<Option<StepIndex>>,
    loops: BTreeMap<StepIndex, LoopItems>,
    /// The loops that may release an item, or end.
    changed_loops: BTreeSet<StepIndex>,
}

impl ReadyIndex {
    pub(super) fn new(plan: &CheckedPlan, steps: &[StepRun]) -> Self {
        let mut dependents = vec![Vec::new(); steps.len()];
        for (index, planned) in plan.indices().zip(plan.written_steps()) {
            for dependency in &planned.dependency_indices {
                if let Some(list) = dependents.get_mut(dependency.get()) {
                    list.push(index);
                }
            }
        }
        // An item waits for its loop, which waits for the others.
        let open = |planned: &PlannedStep| if planned.item.is_some() { 0 } else { planned.dependency_indices.len() };
        let open_dependencies = plan.steps.iter().map(open).collect();
        let may_fail =
            plan.written_steps().iter().map(|planned| planned.controls.on_failure.keeps_dependents()).collect();
        let mut ready = Self { dependents: dependents.into(), may_fail, open_dependencies, ..Self::default() };
        for (index, planned) in plan.indices().zip(&plan.steps) {
            ready.loops_of_items.push(planned.item.map(|item| item.of));
            if let Some(item) = planned.item {
                ready.loops.entry(item.of).or_default().add(index);
            }
        }
        for (index, step) in plan.indices().zip(steps) {
            ready.enter(index, step.stage(), steps);
        }
        ready
    }

    /// Adds a new item of a loop, which waits.
    pub(super) fn add_item(&mut self, index: StepIndex, of: StepIndex) {
        self.open_dependencies.push(0);
        self.loops_of_items.push(Some(of));
        let items = self.loops.entry(of).or_default();
        items.add(index);
        items.enter(index, &Stage::Waiting);
    }

    /// Lets an item start that waits.
    pub(super) fn release_item(&mut self, index: StepIndex) {
        if let Some(items) = self.items_with_mut(index) {
            items.release(index);
            self.decided.insert(index);
        }
    }

    pub(super) fn items(&self, of: StepIndex) -> Option<&LoopItems> {
        self.loops.get(&of)
    }

    pub(super) fn take_changed_loops(&mut self) -> BTreeSet<StepIndex> {
        std::mem::take(&mut self.changed_loops)
    }

    fn is_item(&self, index: StepIndex) -> bool {
        self.loops_of_items.get(index.get()).copied().flatten().is_some()
    }

    fn items_with_mut(&mut self, index: StepIndex) -> Option<&mut LoopItems> {
        let of = self.loops_of_items.get(index.get()).copied().flatten()?;
        self.changed_loops.insert(of);
        self.loops.get_mut(&of)
    }

    /// Updates the index after a step has changed its stage.
    pub(super) fn moved(&mut self, index: StepIndex, before: &Stage, steps: &[StepRun]) -> Decided {
        let step = steps.get(index.get()).ok_or_else(|| missing(index))?;
        self.leave(index, before);
        self.enter(index, step.stage(), steps);
        Ok(())
    }

    /// The first step from `from` on that can proceed: its dependencies are decided, or it is queued and a slot is free.
    pub(in crate::run) fn next_to_move(&self, from: StepIndex, max_calls: u32) -> Option<StepIndex> {
        let has_slot = self.calling < max_calls as usize;
        let queued = self.queued.range(from..).next().filter(|_| has_slot);
        self.decided.range(from..).next().into_iter().chain(queued).min().copied()
    }

    pub(super) fn acting(&self) -> impl Iterator<Item = StepIndex> {
        self.acting.iter().copied()
    }

    pub(super) fn over(&self) -> usize {
        self.over
    }

    /// Whether only a person's decision can move any step.
    pub(in crate::run) fn waits_for_person(&self) -> bool {
        self.awaiting_approval > 0 && self.queued.is_empty() && self.acting.len() == self.awaiting_approval
    }

    /// Whether only people, jobs and the waits of an `until` can move any step.
    pub(in crate::run) fn waits_for_others(&self) -> bool {
        let waiting = self.awaiting_approval + self.awaiting_others;
        waiting > 0 && self.queued.is_empty() && self.acting.len() == waiting
    }

    fn leave(&mut self, index: StepIndex, stage: &Stage) {
        if let Some(items) = self.items_with_mut(index) {
            items.leave(index, stage);
        }
        match stage {
            Stage::Waiting => _ = self.decided.remove(&index),
            Stage::Queued => _ = self.queued.remove(&index),
            Stage::AwaitingApproval { .. } => self.awaiting_approval -= 1,
            Stage::Verifying(verification) if verification.is_queued() => _ = self.queued.remove(&index),
            Stage::Verifying(verification) if verification.is_waiting() => self.awaiting_others -= 1,
            Stage::Calling(_) | Stage::Verifying(_) => self.calling -= 1,
            Stage::AwaitingJob(_) | Stage::BackingOff { reason: WaitReason::Poll, .. } => self.awaiting_others -= 1,
            Stage::Looping
            | Stage::Stopping(_)
            | Stage::BackingOff { .. }
            | Stage::Consulting { .. }
            | Stage::Checking { .. } => {}
            Stage::Done(_)
            | Stage::Unconfirmed { .. }
            | Stage::Failed { .. }
            | Stage::Skipped { .. }
            | Stage::SkippedByCondition { .. } => self.over -= 1,
        }
        self.acting.remove(&index);
    }

    fn enter(&mut self, index: StepIndex, stage: &Stage, steps: &[StepRun]) {
        if let Some(items) = self.items_with_mut(index) {
            items.enter(index, stage);
        }
        match stage {
            Stage::Looping => _ = self.changed_loops.insert(index),
            Stage::Waiting if self.is_item(index) => {}
            Stage::Waiting if self.open_dependencies.get(index.get()) == Some(&0) => _ = self.decided.insert(index),
            Stage::Waiting => {}
            Stage::Queued => _ = self.queued.insert(index),
            Stage::Calling(_) => {
                self.calling += 1;
                self.acting.insert(index);
            }
            Stage::AwaitingApproval { .. } => {
                self.awaiting_approval += 1;
                self.acting.insert(index);
            }
            Stage::AwaitingJob(_) | Stage::BackingOff { reason: WaitReason::Poll, .. } => {
                self.awaiting_others += 1;
                self.acting.insert(index);
            }
            Stage::Verifying(verification) if verification.is_queued() => _ = self.queued.insert(index),
            Stage::Verifying(verification) => {
                let count = if verification.is_waiting() { &mut self.awaiting_others } else { &mut self.calling };
                *count += 1;
                self.acting.insert(index);
            }
            Stage::Stopping(_) | Stage::BackingOff { .. } | Stage::Consulting { .. } | Stage::Checking { .. } => {
                self.acting.insert(index);
            }
            Stage::Done(_) | Stage::SkippedByCondition { .. } => {
                self.over += 1;
                self.decide_dependents(index, steps, Dependency::Settled);
            }
            Stage::Failed { .. } | Stage::Unconfirmed { .. } if self.may_fail.get(index.get()) == Some(&true) => {
                self.over += 1;
                self.decide_dependents(index, steps, Dependency::Settled);
            }
            Stage::Failed { .. } | Stage::Unconfirmed { .. } | Stage::Skipped { .. } => {
                self.over += 1;
                self.decide_dependents(index, steps, Dependency::Lost);
            }
        }
    }

    /// Updates the steps that depend on this one. One lost dependency decides a step; otherwise the last one does.
    fn decide_dependents(&mut self, index: StepIndex, steps: &[StepRun], dependency: Dependency) {
        let dependents = Arc::clone(&self.dependents);
        for other in dependents.get(index.get()).into_iter().flatten() {
            let Some(open) = self.open_dependencies.get_mut(other.get()) else { continue };
            *open -= usize::from(dependency == Dependency::Settled);
            let waits = steps.get(other.get()).is_some_and(|step| matches!(step.stage(), Stage::Waiting));
            if waits && (dependency == Dependency::Lost || *open == 0) {
                self.decided.insert(*other);
            }
        }
    }
}

/// What became of a step that another one depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dependency {
    /// It is done, or the steps after it go on without its result.
    Settled,
    Lost,
}

/// The items of a loop that have become steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::run) struct LoopItems {
    /// The steps, by the position of their item in the list.
    pub(in crate::run) indices: Vec<StepIndex>,
    /// Those that have not been released.
    held: BTreeSet<StepIndex>,
    /// How many items are neither held nor over.
    pub(in crate::run) in_progress: usize,
    pub(in crate::run) done: usize,
    pub(in crate::run) failed: usize,
}

impl LoopItems {
    pub(super) const fn new() -> Self {
        Self { indices: Vec::new(), held: BTreeSet::new(), in_progress: 0, done: 0, failed: 0 }
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
