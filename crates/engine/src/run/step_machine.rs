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

use reknit_plan::{CheckedPlan, PlannedStep, StepIndex};
use reknit_protocol::{CapabilityName, ToolName, Value};
use reknit_salvage::Schema;

use super::Run;
use super::knowledge::Knowledge;
use super::state::{Account, ActiveClock, Planning, RuledOut};
use super::step_run::StepRun;
use super::steps::LoopLists;
use super::steps::Steps;
use crate::event::Started;
use crate::internal_error::Decided;
use crate::policy::Policy;
use crate::record::{Record, RecordKind};

/// A step, what it knows of its run, and what it may change.
pub(super) struct StepMachine<'r> {
    pub(super) index: StepIndex,
    pub(super) started: &'r Started,
    pub(super) request: &'r str,
    pub(super) plan: &'r CheckedPlan,
    pub(super) inputs: Option<&'r Value>,
    pub(super) planning: &'r Planning,
    pub(super) clock: &'r ActiveClock,
    pub(super) now_ms: i64,
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
        StepMachine {
            index,
            started: &self.started,
            request: &self.shown_request,
            plan: &self.plan,
            inputs: self.inputs.as_ref(),
            planning: &self.state.planning,
            clock: &self.state.clock,
            now_ms: self.state.now_ms,
            event: self.state.events.saturating_sub(1),
            steps: &mut self.state.steps,
            loops: &mut self.loops,
            account: &mut self.state.account,
            ruled_out: &mut self.state.ruled_out,
            records: &mut self.records,
            fresh_results: &mut self.fresh_results,
            result_schemas: &mut self.result_schemas,
        }
    }
}

impl<'r> StepMachine<'r> {
    /// The machine of another step: an item of this loop, or a step that ends with this one.
    pub(super) fn at(&mut self, index: StepIndex) -> StepMachine<'_> {
        StepMachine {
            index,
            started: self.started,
            request: self.request,
            plan: self.plan,
            inputs: self.inputs,
            planning: self.planning,
            clock: self.clock,
            now_ms: self.now_ms,
            event: self.event,
            steps: self.steps,
            loops: self.loops,
            account: self.account,
            ruled_out: self.ruled_out,
            records: self.records,
            fresh_results: self.fresh_results,
            result_schemas: self.result_schemas,
        }
    }

    pub(super) fn known(&self) -> Knowledge<'_> {
        Knowledge {
            started: self.started,
            request: self.request,
            plan: self.plan,
            inputs: self.inputs,
            planning: self.planning,
            steps: self.steps,
            loops: self.loops,
            account: self.account,
            ruled_out: self.ruled_out,
            clock: self.clock,
            now_ms: self.now_ms,
        }
    }

    pub(super) fn step(&self) -> Decided<&StepRun> {
        self.steps.get(self.index)
    }

    /// The step as it is written in the plan.
    pub(super) fn planned(&self) -> Decided<&'r PlannedStep> {
        super::planned(self.plan, self.index)
    }

    pub(super) fn policy(&self) -> &'r Policy {
        &self.started.policy
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
