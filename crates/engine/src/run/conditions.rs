//! Steps with a condition, steps that compute, and steps that need a result which the plan goes on without.

use std::fmt::Display;

use reknit_expressions::{Binding, UnboundParameter, UnboundReason};
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{Value, join_first};

use super::Run;
use super::state::Stage;
use crate::internal_error::Decided;
use crate::result_handle::ResultHandle;

/// The parameter of a step that computes.
const RESULT: &str = "result";

impl Run {
    /// Whether the condition of a step holds. Otherwise the step is over: skipped, or failed if its condition has no value.
    pub(super) fn should_run(&mut self, index: StepIndex, planned: &PlannedStep) -> Decided<bool> {
        let Some(condition) = planned.condition() else { return Ok(true) };
        let evaluated = condition.evaluate(&self.results(Some(planned))).map(|evaluation| evaluation.value);
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
        self.set_stage(index, stage)?;
        Ok(false)
    }

    /// Records the start of a step that fails at once.
    fn fail_start(&mut self, planned: &PlannedStep, reason: &dyn Display) -> Stage {
        self.record_start(planned);
        Stage::Failed { reason: reason.to_string(), fault: None }
    }

    /// Computes the result of a step that calls no tool.
    pub(super) fn compute_step(&mut self, index: StepIndex, planned: &PlannedStep) -> Decided {
        let stage = match self.binding(planned) {
            Binding::Bound(bound) => {
                self.keep_bound(index, planned, bound)?;
                // The value is kept once, as the result.
                let mut parameters = std::mem::take(&mut self.state.steps.get_mut(index)?.parameters);
                let value = parameters.remove(RESULT).unwrap_or_default();
                let event = self.state.events.saturating_sub(1);
                return self.confirm(index, planned, ResultHandle::new(value, event));
            }
            Binding::Unbound { unbound, .. } if self.skip_without_source(index, &unbound)? => return Ok(()),
            Binding::Unbound { unbound, .. } => {
                let reasons: Vec<String> = unbound.iter().map(|unbound| unbound.reason.to_string()).collect();
                Stage::Failed { reason: format!("it cannot be computed: {}", reasons.join("; ")), fault: None }
            }
            Binding::Misfit { problems, .. } => {
                let reason = format!("its value does not have the declared type: {}", join_first(&problems));
                Stage::Failed { reason, fault: None }
            }
        };
        self.set_stage(index, stage)
    }

    /// Skips a step that needs the result of a step whose condition is false, or whose failure the plan allows. Returns whether
    /// it did: `??` in its parameters may give it another value.
    pub(super) fn skip_without_source(&mut self, index: StepIndex, unbound: &[UnboundParameter]) -> Decided<bool> {
        let Some(stage) = unbound.iter().find_map(|unbound| without_source(&unbound.reason)) else { return Ok(false) };
        self.set_stage(index, stage)?;
        Ok(true)
    }
}

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
