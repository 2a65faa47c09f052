//! Steps with `until`: a call that only reads is made again until its result is as wished.
//!
//! The time between two calls does not count as active time of the run; it counts for the time limit of the step.

use reknit_expressions::abridge;
use reknit_plan::{PlanAuthor, PlannedStep, StepIndex, Until};
use reknit_protocol::{EffectId, EffectKind, Value};

use super::Run;
use super::state::Stage;
use crate::internal_error::Decided;
use crate::record::{RunRecord, WaitReason};

/// How much of the last result the failure of a step shows, in bytes of JSON.
const SHOWN_RESULT: usize = 500;

impl Run {
    /// Whether the result is not as wished. The step then waits before it asks again, or fails.
    pub(super) fn asks_again(
        &mut self,
        index: StepIndex,
        planned: &PlannedStep,
        until: &Until,
        value: &Value,
    ) -> Decided<bool> {
        self.state.steps.get_mut(index)?.polls += 1;
        let failed = match self.holds(planned, &until.condition, value, None) {
            Ok(true) => return Ok(false),
            Ok(false) => self.wait_for_next_poll(index, planned, until)?,
            Err(reason) => Some(format!("`until`: {reason}")),
        };
        if let Some(reason) = failed {
            let reason = format!("{reason}; the last result is {}", abridge(value, SHOWN_RESULT, &[]));
            self.set_stage(index, Stage::Failed { reason, fault: None })?;
        }
        Ok(true)
    }

    /// Waits before the call is made again, with resends of its own. Returns why it is not made again.
    fn wait_for_next_poll(
        &mut self,
        index: StepIndex,
        planned: &PlannedStep,
        until: &Until,
    ) -> Decided<Option<String>> {
        if let Some(stop) = self.state.stop.as_ref().filter(|stop| stop.is_immediate()) {
            return Ok(Some(stop.to_string()));
        }
        let polls = self.state.steps.get(index)?.polls;
        if polls >= until.times {
            let results = if polls == 1 { "1 result".to_owned() } else { format!("{polls} results") };
            return Ok(Some(format!("`until`: `{}` is false after {results}", until.condition)));
        }
        let until_ms = self.state.now_ms.saturating_add_unsigned(until.wait_ms);
        if let Some(reason) = self.too_late(index, until_ms)? {
            return Ok(Some(reason));
        }
        if self.author() == PlanAuthor::Person {
            self.state.added_tool_calls = self.state.added_tool_calls.saturating_add(1);
        }
        let step = self.state.steps.get_mut(index)?;
        step.renew_resends();
        let id = EffectId::of_step(&planned.id, EffectKind::PollWait, step.before_retry.polls + polls);
        self.record(RunRecord::WaitStarted { id: id.clone(), until_ms, reason: WaitReason::Poll });
        self.set_stage(index, Stage::BackingOff { id, until_ms, reason: WaitReason::Poll })?;
        Ok(None)
    }
}
