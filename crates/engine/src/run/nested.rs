//! A run nested in a session: its steps are the tool calls of a turn, and it borrows the session's budget.

use std::sync::Arc;

use reknit_mend::Fate;
use reknit_plan::{CheckedPlan, PlannedStep, StepIndex};
use reknit_protocol::Object;

use super::state::{Stage, State, Stop};
use super::steps::{StepRun, Steps};
use super::{ApplyError, Run, planned};
use crate::answer::Outcome;
use crate::budget::Spent;
use crate::effect::Effect;
use crate::event::{Event, Started};
use crate::internal_error::Decided;
use crate::record::Record;
use crate::uncertain_call::{Avoided, UncertainCall};

impl Run {
    /// Starts with steps that need no checks: they are calls, and cannot refer to other steps. A call with a reason in
    /// `refused` is not made; nor is a call in `avoided`.
    pub(crate) fn start_nested(
        (started, plan): (Arc<Started>, Arc<CheckedPlan>),
        at_ms: i64,
        budget: &mut Spent,
        refused: &[Option<String>],
        avoided: &Avoided,
    ) -> (Self, Vec<Record>) {
        let state = State { steps: Steps::new(&plan), ..State::new(at_ms) }.without(avoided);
        let mut run = Self::new(started, plan, state);
        run.with_budget(budget, |run| {
            let decided = run.refuse(refused).and_then(|()| run.advance());
            run.end_if_internal_error(decided);
        });
        let records = std::mem::take(&mut run.records);
        (run, records)
    }

    fn refuse(&mut self, refused: &[Option<String>]) -> Decided {
        let plan = Arc::clone(&self.plan);
        for (index, reason) in plan.indices().zip(refused) {
            if let Some(reason) = reason {
                self.record_start(planned(&plan, index)?);
                self.set_stage(index, Stage::Failed { reason: reason.clone(), fault: None })?;
            }
        }
        Ok(())
    }

    /// Applies an event, paying from the session's budget.
    pub(crate) fn apply_nested(&mut self, event: &Event, budget: &mut Spent) -> Result<Vec<Record>, ApplyError> {
        self.with_budget(budget, |run| run.apply(event))
    }

    /// Lends the session's budget to the run for the duration of `act`.
    fn with_budget<T>(&mut self, budget: &mut Spent, act: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.state.spent, budget);
        let result = act(self);
        std::mem::swap(&mut self.state.spent, budget);
        result
    }

    /// The run with a state from a snapshot.
    pub(crate) fn restore_nested(started: Arc<Started>, plan: Arc<CheckedPlan>, mut state: State) -> Self {
        state.steps.index(&plan);
        Self::new(started, plan, state)
    }

    /// The state, for the snapshot of the session.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The effects that are due, without the deadline: the session has its own.
    pub(crate) fn pending_nested(&self) -> Vec<Effect> {
        let deadline = self.state.clock.deadline_id();
        self.pending().into_iter().filter(|effect| effect.id() != Some(&deadline)).collect()
    }

    /// Whether a budget ran out.
    pub(crate) fn ran_out(&self) -> bool {
        matches!(self.state.stop, Some(Stop::Exhausted(_)))
    }

    /// For each step, whether it failed or is unconfirmed, but may have changed something. A repeated call would have another
    /// idempotency key.
    pub(crate) fn uncertain_steps(&self) -> Vec<bool> {
        let unknown = |outcome: &Outcome| {
            matches!(outcome, Outcome::Failed { fate: Fate::Unknown, .. } | Outcome::Unconfirmed { .. })
        };
        let steps = self.steps_in_order().zip(self.step_reports());
        steps.map(|((planned, _), report)| unknown(&report.outcome) && !self.is_harmless(planned)).collect()
    }

    /// Whether the next call of a step must not be made.
    pub(super) fn is_avoided(&self, index: StepIndex) -> Decided<bool> {
        let (planned, step) = (planned(&self.plan, index)?, self.state.steps.get(index)?);
        Ok(self.state.avoided.iter().any(|call| {
            call.tool == planned.tool && call.capability == planned.capability && call.parameters == step.parameters
        }))
    }

    /// The parameters of each step as they were sent last.
    pub(crate) fn sent_parameters(&self) -> Vec<Object> {
        self.steps_in_order().map(|(_, step)| step.parameters.clone()).collect()
    }

    /// The calls that failed but may have taken effect, with the parameters that were sent last.
    pub(crate) fn uncertain_calls(&self) -> Vec<UncertainCall> {
        let steps = self.steps_in_order().zip(self.uncertain_steps());
        let call = |((planned, step), uncertain): ((&PlannedStep, &StepRun), bool)| {
            uncertain.then(|| UncertainCall {
                tool: planned.tool.clone(),
                capability: planned.capability.clone(),
                parameters: step.parameters.clone(),
            })
        };
        steps.filter_map(call).collect()
    }
}
