//! One step of a run as a machine of its own: an event in, another stage out.
//!
//! ```text
//!   Waiting -> Queued -> Calling -> Verifying -> Done
//!                ^          |  \
//!                |          |   AwaitingJob
//!      BackingOff, Consulting, Checking, AwaitingApproval -> Failed, Unconfirmed
//! ```
//!
//! What a stage needs is in [`Stage`](super::state::Stage). The machine knows what its run knows and can change its own step, what
//! was spent, what is ruled out and the records. It cannot change the phase of the run, its plan or its limits.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{CapabilityName, ToolName};
use reknit_salvage::Schema;

use super::Run;
use super::knowledge::{Knowledge, PlanContext, StepContext};
use super::run_clock::RunClock;
use super::state::{Account, RuledOut, State};
use super::step_run::StepRun;
use super::steps::LoopLists;
use super::steps::Steps;
use crate::internal_error::Decided;
use crate::policy::Policy;
use crate::record::{Record, RecordKind};

/// A step, what it knows of its run, and what it may change.
pub(super) struct StepMachine<'r> {
    pub(super) index: StepIndex,
    pub(super) context: PlanContext<'r>,
    pub(super) clock: RunClock<'r>,
    /// The number of the event that is being applied.
    pub(super) event: u64,
    pub(super) steps: &'r mut Steps,
    pub(super) loops: &'r mut LoopLists,
    pub(super) account: &'r mut Account,
    pub(super) ruled_out: &'r mut RuledOut,
    pub(super) records: &'r mut Vec<Record>,
    /// The steps whose results arrived since results were last released.
    pub(super) fresh_results: &'r mut Vec<StepIndex>,
    pub(super) result_schemas: &'r mut ResultSchemas,
}

impl Run {
    /// The machine of a step.
    pub(super) fn at(&mut self, index: StepIndex) -> StepMachine<'_> {
        let Self { started, shown_request, plan, inputs, state, .. } = self;
        let State { planning, steps, account, ruled_out, clock, now_ms, events, .. } = state;
        StepMachine {
            index,
            context: PlanContext { started, request: shown_request, plan, inputs: inputs.as_ref(), planning },
            clock: RunClock { limits: &started.policy.limits, active: clock, now_ms: *now_ms },
            event: events.saturating_sub(1),
            steps,
            loops: &mut self.loops,
            account,
            ruled_out,
            records: &mut self.records,
            fresh_results: &mut self.fresh_results,
            result_schemas: &mut self.result_schemas,
        }
    }
}

impl<'r> StepMachine<'r> {
    pub(super) fn known(&self) -> Knowledge<'_> {
        Knowledge {
            context: StepContext { context: self.context, steps: self.steps, loops: self.loops },
            account: self.account,
            ruled_out: self.ruled_out,
            clock: self.clock,
        }
    }

    pub(super) fn step(&self) -> Decided<&StepRun> {
        self.steps.get(self.index)
    }

    /// The step as it is written in the plan.
    pub(super) fn planned(&self) -> Decided<&'r PlannedStep> {
        super::planned(self.context.plan, self.index)
    }

    pub(super) fn policy(&self) -> &'r Policy {
        &self.context.started.policy
    }

    /// Why nothing more is done for the step at `at_ms`, if its deadline has passed by then.
    pub(super) fn too_late(&self, at_ms: i64) -> Decided<Option<String>> {
        Ok(self.clock.too_late(self.planned()?, self.step()?, at_ms))
    }

    pub(super) fn record(&mut self, record: impl Into<RecordKind>) {
        self.records.push(Record::new(record));
    }
}

/// The compiled schemas of results, by capability. They follow from the plan, and are not part of a snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct ResultSchemas(HashMap<(ToolName, CapabilityName), Option<Arc<Schema>>>);

impl ResultSchemas {
    /// The schema that the tool of a step announces; `None` if it announces none that can be used.
    pub(super) fn get(&mut self, planned: &PlannedStep) -> Option<Arc<Schema>> {
        let announced = planned.announced.as_deref()?;
        let compiled = self.0.entry((planned.tool.clone(), planned.capability.clone()));
        compiled.or_insert_with(|| Schema::compile(announced).ok().map(Arc::new)).clone()
    }
}
