//! The call of a step on its way: its budget, its waits, its deadline, questions to a person about it, and what became of it.

use std::ops::{Deref, DerefMut};

use reknit_plan::PlannedStep;
use reknit_protocol::{CallTool, EffectId, EffectKind, SideEffect};

use super::run_clock::RunClock;
use super::step_handle::StepHandle;
use super::step_run::StepRun;
use crate::digest::idempotency_key;
use crate::event::Started;
use crate::internal_error::Decided;
use crate::policy::Policy;

/// A step with the policy and the time. It does not know the results of other steps, and changes no parameters.
pub(super) struct CallControl<'r> {
    pub(super) handle: StepHandle<'r>,
    pub(super) started: &'r Started,
    pub(super) clock: RunClock<'r>,
}

impl<'r> Deref for CallControl<'r> {
    type Target = StepHandle<'r>;

    fn deref(&self) -> &StepHandle<'r> {
        &self.handle
    }
}

impl<'r> DerefMut for CallControl<'r> {
    fn deref_mut(&mut self) -> &mut StepHandle<'r> {
        &mut self.handle
    }
}

impl<'r> CallControl<'r> {
    pub(super) fn policy(&self) -> &'r Policy {
        &self.started.policy
    }

    /// Why nothing more is done for the step at `at_ms`, if its deadline has passed by then.
    pub(super) fn too_late(&self, at_ms: i64) -> Decided<Option<String>> {
        Ok(self.clock.too_late(self.planned()?, self.step()?, at_ms))
    }

    /// The call that the step would make next.
    pub(super) fn next_call(&self) -> Decided<CallTool> {
        Ok(next_call(self.started, self.planned()?, self.step()?, self.clock))
    }

    /// The call that just failed. It is built like the next call, with the ordinal of the last one.
    pub(super) fn last_call(&self) -> Decided<CallTool> {
        let call = self.next_call()?;
        let calls = self.step()?.counts.calls;
        Ok(CallTool { id: EffectId::of_step(&call.step, EffectKind::Call, calls), ..call })
    }
}

/// The call that a step would make next.
pub(super) fn next_call(started: &Started, planned: &PlannedStep, step: &StepRun, clock: RunClock<'_>) -> CallTool {
    let call = started.call_of(planned, &step.parameters);
    let key = || idempotency_key(started.run.as_str(), planned.id.as_str(), step.correction);
    CallTool {
        id: EffectId::of_step(&planned.id, EffectKind::Call, step.counts.calls + 1),
        idempotency_key: (call.side_effect != SideEffect::Read).then(key),
        business_key: started.business_key(planned, &step.parameters),
        timeout_ms: clock.call_timeout_ms(step),
        ..call
    }
}
