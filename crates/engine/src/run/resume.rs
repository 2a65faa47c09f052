//! Another process resumed the run: work that was not claimed is done again, and paid for again.

use reknit_plan::StepIndex;

use super::Run;
use super::consultations::Topic;
use super::state::{PaidAgain, Phase, Stage};
use crate::internal_error::Decided;
use crate::record::RunRecord;

impl Run {
    pub(super) fn on_resumed(&mut self, last_ms: i64) -> Decided {
        let now_ms = self.state.now_ms;
        let before = self.state.spent.tool_calls;
        self.record(RunRecord::Resumed);
        self.state.clock.resume(last_ms, now_ms);
        self.extend_deadlines(now_ms.saturating_sub(last_ms));
        match self.state.phase.question() {
            Some((topic, question)) if question.is_asking() => self.ask(topic)?,
            None if matches!(self.state.phase, Phase::Running) => {
                for index in self.plan.indices() {
                    self.pay_again(index)?;
                }
            }
            _ => {}
        }
        let tool_calls = self.state.spent.tool_calls.saturating_sub(before);
        self.state.resumed = Some(PaidAgain { event: self.state.events, at_ms: now_ms, tool_calls });
        Ok(())
    }

    /// Refunds calls that were paid for again at this very moment, with no event between: they were never started.
    pub(super) fn refund_resumed_calls(&mut self) {
        let Some(paid) = self.state.resumed.take() else { return };
        if paid.at_ms == self.state.now_ms && paid.event + 1 == self.state.events {
            (0..paid.tool_calls).for_each(|_| self.state.spent.refund_tool_call());
        }
    }

    fn pay_again(&mut self, index: StepIndex) -> Decided {
        match self.state.steps.get(index)?.stage() {
            // Only calls that need no claim are made again here. The driver reports claimed calls as `Interrupted`.
            Stage::Calling(call) if !call.needs_claim() => {
                let call = call.clone();
                match self.charge_tool_call() {
                    Ok(()) => self.record(RunRecord::CallStarted(call)),
                    Err(exhausted) => {
                        let reason = exhausted.to_string();
                        self.state.stop_for(exhausted);
                        self.set_stage(index, Stage::Failed { reason, fault: None })?;
                    }
                }
            }
            Stage::Consulting { rung, consultation, .. } if consultation.is_asking() => {
                self.ask(Topic::Repair { index, rung: *rung })?;
            }
            _ => {}
        }
        Ok(())
    }
}
