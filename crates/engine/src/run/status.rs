//! The status of a run. One function decides it, from how the run ends and what became of its steps.

use reknit_plan::{CheckedPlan, OnFailure};

use super::state::{Stage, State, Stop};
use super::steps::StepRun;
use crate::answer::{Outcome, Status, StepReport};

/// How a run ends.
#[derive(Debug)]
pub(super) enum RunEnd<'a> {
    /// Only a plan was asked for, and it is written.
    PlanWritten,
    /// The plan says that no tool can serve the request.
    NoToolFits,
    /// Nobody wrote a plan that can run.
    NoPlan,
    /// The machine contradicts itself.
    InternalError,
    /// The run stopped while it had no plan.
    StoppedBefore(&'a Stop),
    /// Every step is over.
    Over(StepFacts<'a>),
}

/// What became of the steps of a run.
#[derive(Debug)]
pub(super) struct StepFacts<'a> {
    stop: Option<&'a Stop>,
    done: usize,
    /// Whether every step is done, or went another way that the plan names.
    is_as_planned: bool,
    /// Whether something was done, though perhaps not what was wished for.
    is_unconfirmed: bool,
    /// Whether every output of the plan has a value.
    has_all_outputs: bool,
}

impl<'a> StepFacts<'a> {
    pub(super) fn new(state: &'a State, plan: &CheckedPlan, steps: &[StepReport], has_all_outputs: bool) -> Self {
        let done = steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))).count();
        let otherwise =
            plan.steps.iter().zip(state.steps.iter()).filter(|(planned, step)| {
                goes_another_way(step, matches!(planned.controls.on_failure, OnFailure::Use(_)))
            });
        Self {
            stop: state.stop.as_ref(),
            done,
            is_as_planned: done + otherwise.count() == steps.len(),
            is_unconfirmed: steps.iter().any(|step| matches!(step.outcome, Outcome::Unconfirmed { .. })),
            has_all_outputs,
        }
    }
}

/// Whether a step without a result is no loss: the plan names another way.
fn goes_another_way(step: &StepRun, has_replacement: bool) -> bool {
    step.replaced
        || matches!(step.stage(), Stage::SkippedByCondition { .. })
        || matches!(step.stage(), Stage::Failed { .. } | Stage::Unconfirmed { .. }) && has_replacement
}

/// The status of a run that ends in this way.
pub(super) fn status_of(end: &RunEnd<'_>) -> Status {
    match end {
        RunEnd::PlanWritten => Status::Complete,
        RunEnd::NoToolFits => Status::Impossible,
        RunEnd::NoPlan | RunEnd::InternalError => Status::Failed,
        RunEnd::StoppedBefore(stop) => status_of_stop(stop),
        RunEnd::Over(facts) => match (facts.stop, facts.done) {
            (Some(Stop::Cancelled), _) => Status::Cancelled,
            // A limit that was reached but prevented nothing is not how the run ended.
            _ if facts.is_as_planned && facts.has_all_outputs => Status::Complete,
            (Some(Stop::StepFailed(_)), 1..) => Status::Partial,
            (Some(stop), _) => status_of_stop(stop),
            (None, 0) if !facts.is_unconfirmed => Status::Failed,
            (None, _) => Status::Partial,
        },
    }
}

fn status_of_stop(stop: &Stop) -> Status {
    match stop {
        Stop::Cancelled => Status::Cancelled,
        Stop::Exhausted(_) => Status::BudgetExhausted,
        Stop::StepFailed(_) => Status::Failed,
    }
}
