//! A tool whose circuit breaker is open: its calls wait, within limits.

use std::sync::Arc;

use reknit_mend::CallFault;
use reknit_plan::StepIndex;
use reknit_protocol::{EffectId, EffectKind, human_duration};

use super::state::Stage;
use super::{Run, planned};
use crate::elapsed::ms_between;
use crate::internal_error::Decided;
use crate::record::{RunRecord, WaitReason};

/// How often a step may find its tool's circuit breaker open. Each time is a wait of its own, so this bounds them.
const MAX_SKIPPED_CALLS: u32 = 5;

impl Run {
    /// The call of a step was not made because the tool's circuit breaker is open. It is made later, unless that is too
    /// late.
    pub(super) fn on_breaker_open(&mut self, index: StepIndex, until_ms: i64) -> Decided {
        self.state.spent.refund_tool_call();
        let plan = Arc::clone(&self.plan);
        let planned = planned(&plan, index)?;
        let (now_ms, max_retry_after_ms) = (self.state.now_ms, self.policy().resend.max_retry_after_ms);
        let stopped = self.state.stop.as_ref().filter(|stop| stop.is_immediate()).map(ToString::to_string);
        let late = match stopped {
            Some(reason) => Some(reason),
            None => self.too_late(index, until_ms)?,
        };
        let step = self.state.steps.get_mut(index)?;
        step.skipped_calls += 1;
        let skipped = step.skipped_calls;
        let wait_ms = ms_between(now_ms, until_ms);
        let give_up = match late {
            Some(reason) => Some(reason),
            None if wait_ms > max_retry_after_ms => {
                let (wait, ceiling) = (human_duration(wait_ms), human_duration(max_retry_after_ms));
                Some(format!(
                    "it stays open for {wait}; the longest allowed wait is {ceiling} (`longest-retry-after` in `[resend]`)"
                ))
            }
            None if skipped > MAX_SKIPPED_CALLS => Some(format!("it was open {MAX_SKIPPED_CALLS} times before")),
            None => None,
        };
        if let Some(reason) = give_up {
            let fault = Some(Arc::new(CallFault::breaker_open(planned.tool.as_str())));
            return self.set_stage(index, Stage::Failed { reason, fault });
        }
        let id = EffectId::of_step(&planned.id, EffectKind::BreakerWait, skipped);
        self.record(RunRecord::WaitStarted { id: id.clone(), until_ms, reason: WaitReason::BreakerOpen });
        self.set_stage(index, Stage::BackingOff { id, until_ms, reason: WaitReason::BreakerOpen })
    }
}
