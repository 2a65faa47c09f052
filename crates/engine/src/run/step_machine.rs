//! One step of a run as a machine of its own: an event in, another stage out.
//!
//! ```text
//!   Waiting -> Queued -> Calling -> Verifying -> Done
//!                ^          |  \
//!                |          |   AwaitingJob
//!      BackingOff, Consulting, Checking, AwaitingApproval -> Failed, Unconfirmed
//! ```
//!
//! What a stage needs is in [`Stage`](super::stage::Stage). What happens to a step belongs to the first of these types that has
//! what it needs:
//!
//! ```text
//!   StepHandle    one step, what was spent, what is ruled out, the records
//!   CallControl   and the policy and the time
//!   CallRepair    and the request, the plan and the results
//!   StepMachine   and what follows from a result
//! ```
//!
//! Each dereferences to the one before it. None can change the phase of the run, its plan or its limits.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{CapabilityName, ToolName};
use reknit_salvage::{Formats, Schema};

use super::Run;
use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::knowledge::PlanContext;
use super::run_clock::RunClock;
use super::state::State;
use super::step_handle::StepHandle;

/// A step to which events happen.
pub(super) struct StepMachine<'r> {
    pub(super) repair: CallRepair<'r>,
    /// The number of the event that is being applied.
    pub(super) event: u64,
    /// The steps whose results arrived since results were last released.
    pub(super) fresh_results: &'r mut Vec<StepIndex>,
    pub(super) result_schemas: &'r mut ResultSchemas,
}

impl<'r> Deref for StepMachine<'r> {
    type Target = CallRepair<'r>;

    fn deref(&self) -> &CallRepair<'r> {
        &self.repair
    }
}

impl<'r> DerefMut for StepMachine<'r> {
    fn deref_mut(&mut self) -> &mut CallRepair<'r> {
        &mut self.repair
    }
}

impl Run {
    /// The machine of a step.
    pub(super) fn at(&mut self, index: StepIndex) -> StepMachine<'_> {
        let Self { started, shown_request, plan, inputs, state, records, loops, .. } = self;
        let State { planning, steps, account, ruled_out, clock, now_ms, events, .. } = state;
        let context = PlanContext { started, request: shown_request, plan, inputs: inputs.as_ref(), planning };
        let clock = RunClock { limits: &started.policy.limits, active: clock, now_ms: *now_ms };
        let handle = StepHandle { index, plan, steps, account, ruled_out, records };
        let control = CallControl { handle, started, clock };
        StepMachine {
            repair: CallRepair { control, context, loops },
            event: events.saturating_sub(1),
            fresh_results: &mut self.fresh_results,
            result_schemas: &mut self.result_schemas,
        }
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
        compiled.or_insert_with(|| Schema::compile_with(announced, Formats::Ignored).ok().map(Arc::new)).clone()
    }
}
