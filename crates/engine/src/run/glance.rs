//! A run as telemetry sees it: by reference, and with what follows from its state alone.

use reknit_bind::Binding;
use reknit_protocol::{AgentName, CapabilityName, Object, StepId, Value};

use super::Run;
use super::state::{Phase, Stage};
use super::steps::StepRun;
use reknit_mend::Fault;
use reknit_mend::{Mend, Rung};
use reknit_plan::{Author, Planned, check, correct_names, settle_inputs};

/// A step as telemetry sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glance<'a> {
    planned: &'a Planned,
    step: &'a StepRun,
}

/// Where a step stands, for telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing<'a> {
    /// Its needs are not met.
    Waiting,
    /// It was begun.
    Begun,
    /// It is over, with a result.
    Done,
    /// It is over, without.
    Failed(&'a str),
    /// It was never begun, or stopped before anything was sent.
    Skipped(&'a str),
}

impl<'a> Glance<'a> {
    pub(crate) fn id(self) -> &'a StepId {
        &self.planned.id
    }

    pub(crate) fn agent(self) -> &'a AgentName {
        &self.planned.agent
    }

    pub(crate) fn capability(self) -> &'a CapabilityName {
        &self.planned.capability
    }

    pub(crate) fn instruction(self) -> &'a str {
        &self.planned.instruction
    }

    pub(crate) fn is_independent(self) -> bool {
        self.planned.needs.is_empty()
    }

    pub(crate) fn mends(self) -> &'a [Mend] {
        &self.step.mends
    }

    pub(crate) fn parameters(self) -> &'a Object {
        &self.step.parameters
    }

    /// How often the rung was used.
    pub(crate) fn feedback(self) -> u32 {
        self.step.feedback
    }

    /// How often the rung was used.
    pub(crate) fn context(self) -> u32 {
        self.step.context
    }

    /// How often the same call was sent again.
    pub(crate) fn resends(self) -> u32 {
        self.step.resends
    }

    /// How often its tool was called.
    pub(crate) fn sent(self) -> u32 {
        self.step.sent()
    }

    /// What a model is being asked about, and on which rung.
    pub(crate) fn advising(self) -> Option<(Rung, &'a Fault)> {
        match self.step.stage() {
            Stage::Advising { rung, fault, .. } => Some((*rung, fault)),
            _ => None,
        }
    }

    /// How the last try failed.
    pub(crate) fn last_fault(self) -> Option<&'a Fault> {
        self.step.attempts.last().and_then(|attempt| attempt.fault.as_ref())
    }

    pub(crate) fn standing(self) -> Standing<'a> {
        match self.step.stage() {
            Stage::Waiting => Standing::Waiting,
            Stage::Queued
            | Stage::Calling(_)
            | Stage::Stopping(_)
            | Stage::Resting { .. }
            | Stage::Advising { .. }
            | Stage::Deciding { .. } => Standing::Begun,
            Stage::Done(_) => Standing::Done,
            Stage::Failed { reason, .. } => Standing::Failed(reason),
            Stage::Skipped { reason } => Standing::Skipped(reason),
        }
    }
}

impl Run {
    /// Its steps, in the order of the plan.
    pub(crate) fn glances(&self) -> impl Iterator<Item = Glance<'_>> {
        let steps = self.plan.steps.iter().zip(self.state.steps.iter());
        steps.map(|(planned, step)| Glance { planned, step })
    }

    /// Why a model's words are no plan that can run; none if they are one. The same is asked and answered again, for the
    /// answer is nowhere written.
    pub(crate) fn plan_problems(&self, text: &str) -> Option<String> {
        let mut plan = match self.read_plan(text) {
            Ok((plan, _)) => plan,
            Err(problem) => return Some(problem),
        };
        correct_names(&mut plan, self.catalogue(), Author::Model);
        let checked = check(&plan, self.catalogue(), Author::Model).err();
        let settled = settle_inputs(&plan, &self.started.inputs).err();
        let problems: Vec<String> = checked.into_iter().chain(settled).flatten().map(|it| it.to_string()).collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// How many values of a step had to be changed to fit.
    pub(crate) fn coercions(&self, step: Glance<'_>) -> usize {
        match self.binding(step.planned) {
            Binding::Bound(bound) => bound.changes.len(),
            Binding::Unbound { .. } | Binding::Misfit { .. } => 0,
        }
    }

    /// How many names the results have that a model is shown, and the inputs of the plan.
    pub(crate) fn source_keys(&self) -> usize {
        let results = self.state.steps.iter().filter_map(|step| match step.stage() {
            Stage::Done(value) => Some(value),
            _ => None,
        });
        let names = |value: &Value| crate::synthesis::data(value).as_object().map_or(1, Object::len);
        results.chain(self.inputs.as_ref()).map(names).sum()
    }

    /// The how-manieth plan is being asked for; 0 if none is.
    pub(crate) fn plan_attempt(&self) -> u32 {
        match &self.state.phase {
            Phase::Planning { attempt, .. } => *attempt,
            _ => 0,
        }
    }
}
