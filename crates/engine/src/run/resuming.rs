//! Another process goes on: what nobody claimed is simply done again, and paid for again.

use std::sync::Arc;

use super::Run;
use super::state::{PaidAgain, Phase, Stage};
use super::steps::StepRun;
use reknit_mend::Rung;

impl Run {
    pub(super) fn on_resumed(&mut self, last_ms: i64) {
        let now_ms = self.state.now_ms;
        let before = self.state.spent.tool_calls;
        self.state.clock.resume(last_ms, now_ms);
        self.put_deadlines_off(now_ms.saturating_sub(last_ms));
        match &self.state.phase {
            Phase::Choosing { consultation } if consultation.is_asking() => self.pay_to_choose(),
            Phase::Planning { consultation, .. } if consultation.is_asking() => self.pay_to_ask_again(),
            Phase::Answering { consultation } if consultation.is_asking() => self.pay_for_answer(),
            Phase::Running => (0..self.state.steps.len()).for_each(|index| self.pay_again(index)),
            Phase::Choosing { .. } | Phase::Planning { .. } | Phase::Answering { .. } | Phase::Ended(_) => {}
        }
        let tool_calls = self.state.spent.tool_calls.saturating_sub(before);
        self.state.resumed = Some(PaidAgain { event: self.state.events, at_ms: now_ms, tool_calls });
    }

    /// Calls that were paid for at this very moment, with nothing between, were never begun: they are given back.
    pub(super) fn take_back_payment(&mut self) {
        let Some(paid) = self.state.resumed.take() else { return };
        if paid.at_ms == self.state.now_ms && paid.event + 1 == self.state.events {
            (0..paid.tool_calls).for_each(|_| self.state.spent.give_back_tool_call());
        }
    }

    fn pay_again(&mut self, index: usize) {
        let started = Arc::clone(&self.started);
        match self.state.steps.get(index).map(StepRun::stage) {
            // A call that is claimed is in doubt, and one that is not was never made.
            Some(Stage::Calling(call)) if !call.needs_claim() => {
                if let Err(exhausted) = self.state.spent.take_tool_call(&started.policy.limits) {
                    let reason = exhausted.to_string();
                    self.state.stop_for(exhausted);
                    self.set_stage(index, Stage::Failed { reason, fault: None });
                }
            }
            Some(Stage::Advising { rung, fault, consultation }) if consultation.is_asking() => {
                let (rung, fault): (Rung, _) = (*rung, fault.as_ref().clone());
                self.pay_for_advice(index, fault, rung);
            }
            _ => {}
        }
    }
}
