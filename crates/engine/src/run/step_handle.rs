//! One step of a run, and what changes together with it.

use reknit_plan::{CheckedPlan, PlannedStep, StepIndex};

use super::state::{Account, RuledOut};
use super::step_run::StepRun;
use super::steps::Steps;
use crate::internal_error::Decided;
use crate::record::{Record, RecordKind};

/// Moves a step from stage to stage and records it. It knows neither the request nor the policy nor the time.
pub(super) struct StepHandle<'r> {
    pub(super) index: StepIndex,
    pub(super) plan: &'r CheckedPlan,
    pub(super) steps: &'r mut Steps,
    pub(super) account: &'r mut Account,
    pub(super) ruled_out: &'r mut RuledOut,
    pub(super) records: &'r mut Vec<Record>,
}

impl<'r> StepHandle<'r> {
    pub(super) fn step(&self) -> Decided<&StepRun> {
        self.steps.get(self.index)
    }

    pub(super) fn step_mut(&mut self) -> Decided<&mut StepRun> {
        self.steps.get_mut(self.index)
    }

    /// The step as it is written in the plan.
    pub(super) fn planned(&self) -> Decided<&'r PlannedStep> {
        super::planned(self.plan, self.index)
    }

    pub(super) fn record(&mut self, record: impl Into<RecordKind>) {
        self.records.push(Record::new(record));
    }
}
