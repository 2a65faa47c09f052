//! Steps with `foreach`, `when` or `compute`, and steps that need a result which the plan goes on without.
//!
//! Each item of a loop's list becomes a step of its own, a few at a time, and the loop ends with the list of their results. An item
//! that waits has not been released; every other item that is not over is in progress. Both follow from the stages of the steps, so a
//! restored run releases the same item next.

use std::fmt::Display;
use std::sync::Arc;

use reknit_expressions::{Binding, UnboundParameter, UnboundReason};
use reknit_plan::{LoopItem, OnFailure, PlanAuthor, PlannedStep, StepIndex};
use reknit_protocol::{StepId, Value, join_first};

use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::knowledge::{Knowledge, StepContext};
use super::stage::Stage;
use super::state::Stop;
use super::step_handle::StepHandle;
use super::step_machine::StepMachine;
use super::step_run::StepRun;
use super::{ApplyError, Run, planned};
use crate::budget::Exhausted;
use crate::internal_error::{Decided, InternalError};
use crate::result_handle::{ResultHandle, response_data};

impl Run {
    /// Releases the next items of each loop that has a free place, and ends the loops that are over. Returns whether a step
    /// has moved.
    pub(super) fn advance_loops(&mut self) -> Decided<bool> {
        let changed = self.state.steps.take_changed_loops();
        for index in &changed {
            if matches!(self.state.steps.get(*index)?.stage(), Stage::Looping) {
                self.release_items(*index)?;
                if self.state.steps.items(*index).is_over() {
                    self.at(*index).end_loop()?;
                }
            }
        }
        Ok(!changed.is_empty())
    }

    fn release_items(&mut self, index: StepIndex) -> Decided {
        if let Some(reason) = self.known().stops_items() {
            return self.at(index).skip_items(&reason);
        }
        let of_policy = self.policy().limits.calls_at_once;
        let at_once = planned(&self.plan, index)?.foreach().and_then(|foreach| foreach.at_once).unwrap_or(of_policy);
        let length = self.loops.get(index).len();
        for _ in self.state.steps.items(index).in_progress..at_once as usize {
            let items = self.state.steps.items(index);
            let next = match items.first_held() {
                Some(held) => held,
                None if items.indices.len() < length => {
                    self.add_item(LoopItem { of: index, position: items.indices.len() })?
                }
                None => break,
            };
            self.state.steps.release_item(next);
        }
        Ok(())
    }

    fn add_item(&mut self, item: LoopItem) -> Decided<StepIndex> {
        let added = Arc::make_mut(&mut self.plan).add_item(item);
        let added = added.ok_or_else(|| InternalError::new("an item of a step that does not exist"))?;
        let of_loop = self.state.steps.get(item.of)?;
        let is_approved = !of_loop.has_item_approvals()
            || of_loop.looping.approved_items.contains_key(&planned(&self.plan, added)?.id);
        let approval_reports = if is_approved { of_loop.approval.reports.clone() } else { Vec::new() };
        self.state.steps.add_item(item, approval_reports);
        Ok(added)
    }

    /// Adds the items of a restored run to its plan.
    pub(super) fn restore_items(&mut self) -> Result<(), ApplyError> {
        let written = self.plan.steps.len();
        let plan = Arc::make_mut(&mut self.plan);
        for step in self.state.steps.iter().skip(written) {
            let added = step.item.and_then(|item| plan.add_item(item));
            added.ok_or_else(|| {
                ApplyError::Snapshot("a step is neither in the plan nor an item of a loop".to_owned())
            })?;
        }
        Ok(())
    }

    /// Evaluates the lists of the loops in progress of a restored run.
    pub(super) fn restore_lists(&mut self) -> Result<(), ApplyError> {
        let plan = Arc::clone(&self.plan);
        for (index, planned) in plan.indices().zip(plan.written_steps()) {
            let is_looping = self.state.steps.get(index).is_ok_and(|step| matches!(step.stage(), Stage::Looping));
            if !is_looping {
                continue;
            }
            let list = self.known().loop_list(index, planned).ok().and_then(Result::ok);
            let list = list.ok_or_else(|| ApplyError::Snapshot(format!("`{}` has no list", planned.id)))?;
            self.loops.0.insert(index, list.into());
        }
        Ok(())
    }
}

impl StepHandle<'_> {
    /// Skips the items that have not started of a loop that is over: after a retry it may lose a step that it needs.
    pub(super) fn skip_held_items(&mut self, id: &StepId) -> Decided {
        match self.steps.items(self.index).first_held() {
            Some(_) => self.skip_items(&format!("`{id}` is over")),
            None => Ok(()),
        }
    }

    fn skip_items(&mut self, reason: &str) -> Decided {
        while let Some(held) = self.steps.items(self.index).first_held() {
            self.set_stage_of(held, Stage::Skipped { reason: reason.to_owned() })?;
        }
        Ok(())
    }

    /// Records the start of a step that fails at once.
    fn fail_start(&mut self, planned: &PlannedStep, reason: &dyn Display) -> Stage {
        self.record_start(planned);
        Stage::Failed { reason: reason.to_string(), fault: None }
    }

    /// Skips a step that needs the result of a step whose condition is false, or whose failure the plan allows. Returns whether
    /// it did: `??` in its parameters may give it another value.
    pub(super) fn skip_without_source(&mut self, unbound: &[UnboundParameter]) -> Decided<bool> {
        let Some(stage) = unbound.iter().find_map(|unbound| without_source(&unbound.reason)) else { return Ok(false) };
        self.set_stage(stage)?;
        Ok(true)
    }
}

impl CallControl<'_> {
    /// Pays for a tool call. The items of a person's loops add to the limit.
    pub(super) fn charge_tool_call(&mut self) -> Result<(), Exhausted> {
        let limit = self.policy().limits.tool_calls.saturating_add(self.account.added_tool_calls);
        self.account.spent.charge_tool_call(limit)
    }
}

impl CallRepair<'_> {
    /// Whether the condition of a step holds. Otherwise the step is over: skipped, or failed if its condition has no value.
    pub(super) fn should_run(&mut self, planned: &PlannedStep) -> Decided<bool> {
        let Some(condition) = planned.condition() else { return Ok(true) };
        let evaluated = condition.evaluate(&self.known().results(Some(planned))).map(|evaluation| evaluation.value);
        let stage = match evaluated {
            Ok(Value::Bool(true)) => return Ok(true),
            Ok(Value::Bool(false)) => {
                Stage::SkippedByCondition { reason: format!("skipped by condition: `{condition}` is false") }
            }
            Ok(other) => {
                let kind = other.kind().with_article();
                self.fail_start(planned, &format!("its condition `{condition}` is {kind}, not true or false"))
            }
            Err(reason) => match without_source(&reason) {
                Some(stage) => stage,
                None => self.fail_start(planned, &format!("its condition has no value: {reason}")),
            },
        };
        self.set_stage(stage)?;
        Ok(false)
    }
}

impl StepMachine<'_> {
    /// Begins the loop of a step whose dependencies are done, or goes on with it after a retry.
    pub(super) fn begin_loop(&mut self, planned: &PlannedStep) -> Decided {
        let list = match self.known().loop_list(self.index, planned)? {
            Ok(list) => list,
            Err(stage) => return self.set_stage(stage),
        };
        let length = u32::try_from(list.len()).unwrap_or(u32::MAX);
        let can_change = self.known().can_change_on_retry(planned)?;
        let step = self.step_mut()?;
        if step.looping.length.is_none() {
            step.looping.length = Some(length);
            // The list stays what it is, also if a retry brings a result that was missing.
            step.looping.list = can_change.then(|| Value::Array(list.clone()));
            if self.known().author() == PlanAuthor::Person {
                self.account.added_tool_calls = self.account.added_tool_calls.saturating_add(length);
            }
        }
        if list.is_empty() {
            let event = self.event;
            return self.set_stage(Stage::Done(ResultHandle::new(Value::Array(list), event)));
        }
        let length = list.len();
        let index = self.index;
        self.loops.0.insert(index, list.into());
        if self.ask_about_items(planned, length)? {
            return Ok(());
        }
        self.set_stage(Stage::Looping)
    }

    /// Ends a loop whose items are over.
    fn end_loop(&mut self) -> Decided {
        let plan = self.context.plan;
        let planned_loop = self.planned()?;
        let index = self.index;
        let length = self.loops.0.remove(&index).map_or(0, |list| list.len());
        let items = self.steps.items(index).indices.clone();
        let mut lost: Vec<(StepIndex, String)> = Vec::new();
        let (mut done, mut was_sent) = (0, false);
        for item in &items {
            let step = self.steps.get(*item)?;
            was_sent |= step.sent() > 0;
            match step.stage() {
                Stage::Failed { reason, fault } => {
                    let words = fault.as_ref().map_or_else(|| reason.clone(), |fault| format!("{fault}; {reason}"));
                    lost.push((*item, words));
                }
                Stage::Unconfirmed { reason, .. } => lost.push((*item, format!("it is unconfirmed: {reason}"))),
                Stage::Skipped { reason } => lost.push((*item, reason.clone())),
                _ => done += 1,
            }
        }
        let progress = format!("{done} of {length} items are done");
        let stage = match (self.known().stops_items().filter(|_| items.len() < length), lost.first()) {
            (Some(reason), _) if was_sent => Stage::Failed { reason: format!("{progress}; {reason}"), fault: None },
            (Some(reason), _) => Stage::Skipped { reason },
            (None, Some((first, words))) if !planned_loop.controls.on_failure.keeps_dependents() => {
                let first = &planned(plan, *first)?.id;
                Stage::Failed { reason: format!("{progress}; `{first}` is not: {words}"), fault: None }
            }
            (None, _) => {
                self.fresh_results.push(self.index);
                let event = self.event;
                Stage::Done(ResultHandle::new(self.known().loop_results(self.index).value(), event))
            }
        };
        self.set_stage(stage)
    }

    /// Computes the result of a step that calls no tool.
    pub(super) fn compute_step(&mut self, planned: &PlannedStep) -> Decided {
        let stage = match self.known().binding(planned) {
            Binding::Bound(bound) => {
                self.keep_bound(planned, bound)?;
                // The value is kept once, as the result.
                let mut parameters = std::mem::take(&mut self.step_mut()?.parameters);
                let value = parameters.remove(RESULT).unwrap_or_default();
                let event = self.event;
                return self.confirm(planned, ResultHandle::new(value, event));
            }
            Binding::Unbound { unbound, .. } if self.skip_without_source(&unbound)? => return Ok(()),
            Binding::Unbound { unbound, .. } => {
                let reasons: Vec<String> = unbound.iter().map(|unbound| unbound.reason.to_string()).collect();
                Stage::Failed { reason: format!("it cannot be computed: {}", reasons.join("; ")), fault: None }
            }
            Binding::Misfit { problems, .. } => {
                let reason = format!("its value does not have the declared type: {}", join_first(&problems));
                Stage::Failed { reason, fault: None }
            }
        };
        self.set_stage(stage)
    }
}

impl StepContext<'_> {
    /// The list of a loop, or the stage of its step if there is none that it may run over.
    fn loop_list(&self, index: StepIndex, planned: &PlannedStep) -> Decided<Result<Vec<Value>, Stage>> {
        let foreach = planned.foreach().ok_or_else(|| InternalError::new("a loop without a list"))?;
        let step = self.steps.get(index)?;
        let evaluated = match &step.looping.list {
            Some(list) => Ok(list.clone()),
            None => foreach.list.evaluate(&self.results(Some(planned))).map(|evaluation| evaluation.value),
        };
        let failed = |reason: String| Ok(Err(Stage::Failed { reason, fault: None }));
        let list = match evaluated {
            Ok(Value::Array(list)) => list,
            Ok(other) => {
                return failed(format!("`{}` is {}, not a list", foreach.list, other.kind().with_article()));
            }
            Err(reason) => {
                let otherwise = || Stage::Failed { reason: format!("its list has no value: {reason}"), fault: None };
                return Ok(Err(without_source(&reason).unwrap_or_else(otherwise)));
            }
        };
        let allowed = self.policy().limits.max_items;
        let most = match self.author() {
            PlanAuthor::Person => foreach.max_items.unwrap_or(allowed),
            PlanAuthor::Model => foreach.max_items.map_or(allowed, |most| most.min(allowed)),
        };
        if step.looping.length.is_none() && list.len() > most as usize {
            return failed(format!(
                "its list has {} items, and at most {most} are allowed: set `max_items` of the step, or `max-items` in `[limits]`",
                list.len()
            ));
        }
        Ok(Ok(list))
    }

    /// Whether a retry could change a result that the step reads.
    fn can_change_on_retry(&self, planned: &PlannedStep) -> Decided<bool> {
        for index in &planned.dependency_indices {
            if !matches!(self.steps.get(*index)?.stage(), Stage::Done(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The results of the items of a loop, in order.
    pub(super) fn loop_results(&self, index: StepIndex) -> LoopResults {
        let on_failure = self.plan.get(index).map(|planned| &planned.controls.on_failure);
        let result = |item: &StepIndex| match (self.steps.get(*item).map(StepRun::stage), on_failure) {
            (Ok(Stage::Done(result)), _) => result.clone(),
            (Ok(Stage::Failed { .. } | Stage::Unconfirmed { .. }), Some(OnFailure::Use(value))) => value.clone().into(),
            _ => Value::Null.into(),
        };
        LoopResults(self.steps.items(index).indices.iter().map(result).collect())
    }
}

impl Knowledge<'_> {
    /// Why no further item starts, if the run stops or cannot pay for it.
    fn stops_items(&self) -> Option<String> {
        let stop = self.account.stop.as_ref()?;
        let is_for_items = match stop {
            Stop::Cancelled | Stop::StepFailed(_) | Stop::Exhausted(Exhausted::Time(_) | Exhausted::ToolCalls(_)) => {
                true
            }
            Stop::Exhausted(Exhausted::ModelCalls(_) | Exhausted::Money { .. } | Exhausted::Unpriced(_)) => false,
        };
        is_for_items.then(|| stop.to_string())
    }
}

/// The results of the items of a loop, from which its own result is built whenever it is needed.
#[derive(Debug)]
pub(super) struct LoopResults(Vec<ResultHandle>);

impl LoopResults {
    pub(super) fn value(&self) -> Value {
        // References look into the envelope of a result, but not into those of the items of a list.
        Value::Array(self.0.iter().map(|result| response_data(&result.load())).collect())
    }
}

impl crate::result_handle::ResultSource for LoopResults {
    fn load(&self, _event: u64) -> Option<Value> {
        self.0.iter().all(|result| result.try_load().is_some()).then(|| self.value())
    }
}

/// The parameter of a step that computes.
const RESULT: &str = "result";

/// The stage of a step that needs a value for this reason.
pub(super) fn without_source(reason: &UnboundReason) -> Option<Stage> {
    match reason {
        UnboundReason::StepSkipped { step } => {
            Some(Stage::SkippedByCondition { reason: format!("it needs `{step}`, which was skipped by its condition") })
        }
        UnboundReason::StepFailed { step } => {
            Some(Stage::Skipped { reason: format!("it needs `{step}`, which failed") })
        }
        _ => None,
    }
}
