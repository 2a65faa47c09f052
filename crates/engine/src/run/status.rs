//! The status of a run: what its ending and its steps say to the verdict.

use reknit_plan::{CheckedPlan, OnFailure};

use super::agent_sessions::AgentReply;
use super::stage::Stage;
use super::state::{State, Stop};
use super::step_run::StepRun;
use crate::answer::{Outcome, Status, StepReport};
use crate::verdict::{Fact, verdict};

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
    /// Whether every step is done, or went another way that the plan names, and every output has a value.
    is_whole: bool,
    /// Whether something was done, though perhaps not what was wished for.
    is_unconfirmed: bool,
    /// What else is to be said about steps that are done.
    of_done: Vec<Fact>,
}

impl<'a> StepFacts<'a> {
    pub(super) fn new(
        state: &'a State,
        plan: &CheckedPlan,
        steps: &[StepReport],
        has_all_outputs: bool,
        has_lost_filters: bool,
    ) -> Self {
        let done = steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))).count();
        let otherwise =
            plan.steps.iter().zip(state.steps.iter()).filter(|(planned, step)| {
                goes_another_way(step, matches!(planned.controls.on_failure, OnFailure::Use(_)))
            });
        let is_unfinished = steps.iter().filter_map(AgentReply::of).any(|reply| !reply.is_success());
        let unfinished = is_unfinished.then_some(Fact::UnfinishedChild);
        let lost = has_lost_filters.then_some(Fact::LostFilter);
        Self {
            stop: state.account.stop.as_ref(),
            done,
            is_whole: has_all_outputs && done + otherwise.count() == steps.len(),
            is_unconfirmed: steps.iter().any(|step| matches!(step.outcome, Outcome::Unconfirmed { .. })),
            of_done: unfinished.into_iter().chain(lost).collect(),
        }
    }

    fn facts(&self) -> impl Iterator<Item = Fact> {
        self.of_ending().into_iter().chain(self.of_done.iter().copied())
    }

    fn of_ending(&self) -> Option<Fact> {
        match self.stop {
            Some(Stop::Cancelled) => Some(Fact::Cancelled),
            // A limit that was reached but prevented nothing is not how the run ended.
            _ if self.is_whole => None,
            Some(Stop::Exhausted(_)) => Some(Fact::LimitReached),
            Some(Stop::StepFailed(_)) if self.done == 0 => Some(Fact::NothingDone),
            None if self.done == 0 && !self.is_unconfirmed => Some(Fact::NothingDone),
            Some(Stop::StepFailed(_)) | None => Some(Fact::StepNotDone),
        }
    }
}

/// Whether a step without a result is no loss: the plan names another way.
fn goes_another_way(step: &StepRun, has_replacement: bool) -> bool {
    step.replaced
        || matches!(step.stage(), Stage::SkippedByCondition { .. })
        || matches!(step.stage(), Stage::Failed { .. } | Stage::Unconfirmed { .. }) && has_replacement
}

/// The status of a run that ends in this way. Nobody claims anything: code knows what was done.
pub(super) fn status_of(end: &RunEnd<'_>) -> Status {
    let fact = match end {
        RunEnd::PlanWritten => None,
        RunEnd::NoToolFits => Some(Fact::NoToolFits),
        RunEnd::NoPlan | RunEnd::InternalError | RunEnd::StoppedBefore(Stop::StepFailed(_)) => Some(Fact::NothingDone),
        RunEnd::StoppedBefore(Stop::Cancelled) => Some(Fact::Cancelled),
        RunEnd::StoppedBefore(Stop::Exhausted(_)) => Some(Fact::LimitReached),
        RunEnd::Over(facts) => return verdict(Status::Complete, facts.facts()),
    };
    verdict(Status::Complete, fact)
}
