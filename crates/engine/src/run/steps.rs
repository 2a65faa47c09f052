//! The steps of a run, with an index of what each one waits for: an event costs what it changes, however long the plan is.

mod ready_index;

pub(super) use ready_index::LoopItems;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use reknit_plan::{CheckedPlan, LoopItem, PlannedStep, StepIndex};
use reknit_protocol::Value;
use serde::{Deserialize, Serialize};

use super::stage::Stage;
use super::step_run::{ApprovalState, StepRun};
use crate::answer::StepApproval;
use crate::internal_error::{Decided, InternalError};
use crate::result_handle::{LoadedResults, ResultSource};
use ready_index::ReadyIndex;

/// The steps, in the order of the plan. Only they are part of a snapshot; the index follows from them and from the plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Steps {
    list: Vec<StepRun>,
    #[serde(skip)]
    ready: ReadyIndex,
}

impl Steps {
    /// The steps of a plan before anything has happened.
    pub(super) fn new(plan: &CheckedPlan) -> Self {
        let list = plan.steps.iter().map(|_| StepRun::default()).collect();
        let mut steps = Self { list, ready: ReadyIndex::default() };
        steps.index(plan);
        steps
    }

    /// Builds the index: needed once after steps were restored.
    pub(super) fn index(&mut self, plan: &CheckedPlan) {
        self.ready = ReadyIndex::new(plan, &self.list);
    }

    pub(super) fn get(&self, index: StepIndex) -> Decided<&StepRun> {
        self.list.get(index.get()).ok_or_else(|| missing(index))
    }

    pub(super) fn get_mut(&mut self, index: StepIndex) -> Decided<&mut StepRun> {
        self.list.get_mut(index.get()).ok_or_else(|| missing(index))
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, StepRun> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, StepRun> {
        self.list.iter_mut()
    }

    /// Moves a step to another stage. This is the only way to do so.
    pub(super) fn set_stage(&mut self, index: StepIndex, stage: Stage) -> Decided {
        let before = std::mem::replace(&mut self.get_mut(index)?.stage, stage);
        self.ready.moved(index, &before, &self.list)
    }

    /// Moves several steps that are over to other stages, and builds the index again.
    pub(super) fn reopen(&mut self, stages: Vec<(StepIndex, Stage)>, plan: &CheckedPlan) -> Decided {
        for (index, stage) in stages {
            self.get_mut(index)?.stage = stage;
        }
        self.index(plan);
        Ok(())
    }

    /// Adds steps that wait at a position, which the plan has already.
    pub(super) fn insert(&mut self, position: usize, count: usize, plan: &CheckedPlan) {
        let position = position.min(self.list.len());
        self.list.splice(position..position, (0..count).map(|_| StepRun::default()));
        self.index(plan);
    }

    /// Adds a step for an item of a loop. It waits until it is released.
    pub(super) fn add_item(&mut self, item: LoopItem, reports: Vec<StepApproval>) {
        self.ready.add_item(StepIndex::new(self.list.len()), item.of);
        let approval = ApprovalState { reports, ..ApprovalState::default() };
        self.list.push(StepRun { item: Some(item), approval, ..StepRun::default() });
    }

    /// Lets an item start that waits.
    pub(super) fn release_item(&mut self, index: StepIndex) {
        self.ready.release_item(index);
    }

    pub(super) fn items(&self, of: StepIndex) -> &LoopItems {
        static NONE: LoopItems = LoopItems::new();
        self.ready.items(of).unwrap_or(&NONE)
    }

    /// The loops that may release an item or end, since they were last taken.
    pub(super) fn take_changed_loops(&mut self) -> BTreeSet<StepIndex> {
        self.ready.take_changed_loops()
    }

    /// The indices of all steps, the items of each loop after it.
    pub(super) fn in_order(&self) -> impl Iterator<Item = StepIndex> {
        let steps = self.list.iter().enumerate().filter(|(_, step)| step.item.is_none());
        steps.flat_map(|(position, _)| {
            let index = StepIndex::new(position);
            std::iter::once(index).chain(self.items(index).indices.iter().copied())
        })
    }

    /// Drops the result of a step from memory, if it is large.
    pub(super) fn release_result(&mut self, index: StepIndex, source: &Arc<dyn ResultSource>, loaded: &LoadedResults) {
        if let Some(StepRun { stage: Stage::Done(result), .. }) = self.list.get_mut(index.get()) {
            result.release(source, index, loaded);
        }
    }

    /// The steps that have effects due, in order.
    pub(super) fn acting(&self) -> impl Iterator<Item = &StepRun> {
        self.ready.acting().filter_map(|index| self.list.get(index.get()))
    }

    /// Whether every step is over.
    pub(super) fn are_over(&self) -> bool {
        self.ready.over() == self.list.len()
    }

    pub(super) fn ready(&self) -> &ReadyIndex {
        &self.ready
    }
}

fn missing(index: StepIndex) -> InternalError {
    InternalError::new(format!("the run has no step at index {index:?}"))
}

/// The lists of the loops in progress, by step. They follow from the plan and the results, and are not part of a snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct LoopLists(pub(super) HashMap<StepIndex, Arc<[Value]>>);

impl LoopLists {
    pub(super) fn get(&self, index: StepIndex) -> &[Value] {
        self.0.get(&index).map(AsRef::as_ref).unwrap_or_default()
    }

    /// The item that a step runs for.
    pub(super) fn item_of(&self, planned: &PlannedStep) -> Option<&Value> {
        let item = planned.item?;
        self.get(item.of).get(item.position)
    }
}
