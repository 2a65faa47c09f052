//! Settling a call with an unknown outcome: by a check that the configuration names, then by a person.

use std::sync::Arc;

use reknit_mend::{CallFault, MendEffect, Rung};
use reknit_plan::StepIndex;
use reknit_protocol::{EffectId, EffectKind, Value};

use super::schedule::read_call;
use super::state::Stage;
use super::{Run, planned};
use crate::effect::Question;
use crate::event::EventKind;
use crate::internal_error::{Decided, InternalError};
use crate::outcome_check::{Finding, IfAbsent, OutcomeCheck};
use crate::record::{CallEnd, MendDetail, RunRecord};

impl Run {
    /// Asks a person about a call that may have taken effect, after its check, if it has one.
    pub(super) fn ask_about_outcome(&mut self, index: StepIndex, fault: Arc<CallFault>) -> Decided {
        if self.has_check(index)? {
            self.start_check(index, fault, None)
        } else {
            self.ask_to_send_again(index, fault, None)
        }
    }

    /// Ends a step that cannot be repaired. A call that may have taken effect is checked first.
    pub(super) fn give_up(&mut self, index: StepIndex, fault: Arc<CallFault>, reason: String) -> Decided {
        let class = self.side_effect(planned(&self.plan, index)?);
        let is_uncertain = self.state.steps.get(index)?.may_have_happened(class, Some(&fault));
        if is_uncertain && self.has_check(index)? {
            return self.start_check(index, fault, Some(reason));
        }
        self.set_stage(index, Stage::Failed { reason, fault: Some(fault) })
    }

    /// Whether the configuration names a check for the call of a step.
    pub(super) fn has_check(&self, index: StepIndex) -> Decided<bool> {
        Ok(self.check_of(index)?.is_some())
    }

    fn check_of(&self, index: StepIndex) -> Decided<Option<&OutcomeCheck>> {
        let planned = planned(&self.plan, index)?;
        Ok(self.policy().effects.check(planned.tool.as_str(), planned.capability.as_str()))
    }

    /// Calls the check of a step. Without an answer that settles the outcome, the step fails for the reason `give_up`, or a
    /// person is asked if there is none.
    pub(super) fn start_check(&mut self, index: StepIndex, fault: Arc<CallFault>, give_up: Option<String>) -> Decided {
        let last = self.last_call(index)?;
        let check = self.check_of(index)?.ok_or_else(|| InternalError::new("a check that is not configured"))?.clone();
        let parameters = match check.parameters_for(&last) {
            Ok(parameters) => parameters,
            Err(problem) => {
                let finding = Finding::Unclear(format!("its parameters have no values: {problem}"));
                return self.after_check(index, fault, give_up, &check, finding);
            }
        };
        if let Err(exhausted) = self.charge_tool_call() {
            let reason = exhausted.to_string();
            self.state.stop_for(exhausted);
            return self.after_check(index, fault, give_up, &check, Finding::Unclear(reason));
        }
        let timeout_ms = self.call_timeout_ms(self.state.steps.get(index)?);
        let step = self.state.steps.get_mut(index)?;
        step.checks += 1;
        let id = EffectId::of_step(&last.step, EffectKind::Check, step.checks);
        let names = (&check.tool, &check.capability);
        let call = Arc::new(read_call(id, &last.step, names, parameters, timeout_ms));
        self.record(RunRecord::CallStarted(Arc::clone(&call)));
        self.set_stage(index, Stage::Checking { call, fault, give_up })
    }

    /// Applies the outcome of a check; returns whether the event was one.
    pub(super) fn on_check_event(&mut self, index: StepIndex, kind: &EventKind) -> Decided<bool> {
        let Stage::Checking { call, fault, give_up } = self.state.steps.get(index)?.stage() else { return Ok(false) };
        let (call, fault, give_up) = (Arc::clone(call), Arc::clone(fault), give_up.clone());
        let check = self.check_of(index)?.ok_or_else(|| InternalError::new("a check that is not configured"))?.clone();
        let (end, finding) = match kind {
            EventKind::ToolAnswered { reply, .. } if reply.job.is_some() => {
                let end = CallEnd::Replied { status: reply.status, fixes: Vec::new() };
                (end, Finding::Unclear("it started a job instead of answering".to_owned()))
            }
            EventKind::ToolAnswered { reply, .. } => {
                (CallEnd::of_reply(reply), check.read(&self.last_call(index)?, reply))
            }
            EventKind::ToolFailed { failure, .. } => {
                (CallEnd::of_failure(failure), Finding::Unclear(failure.message.clone()))
            }
            EventKind::Interrupted { .. } => (CallEnd::Interrupted, Finding::Unclear("it was interrupted".to_owned())),
            EventKind::BreakerOpen { until_ms, .. } => {
                self.record(RunRecord::CallSkipped { id: call.id.clone(), until_ms: *until_ms });
                let reason = "the circuit breaker of its tool is open, or the tool is at its limit".to_owned();
                self.after_check(index, fault, give_up, &check, Finding::Unclear(reason))?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.record(RunRecord::CallEnded { call, end, fault: None });
        self.after_check(index, fault, give_up, &check, finding)?;
        Ok(true)
    }

    fn after_check(
        &mut self,
        index: StepIndex,
        fault: Arc<CallFault>,
        give_up: Option<String>,
        check: &OutcomeCheck,
        finding: Finding,
    ) -> Decided {
        let name = format!("`{}` of `{}`", check.capability, check.tool);
        let most = self.resend_policy(planned(&self.plan, index)?).times;
        let resends_left = self.state.steps.get(index)?.resends < most;
        let words = match finding {
            Finding::Happened(result) => {
                return self.settle_as_happened(index, result, format!("{name} shows that the call took effect"));
            }
            Finding::Absent if check.if_absent == IfAbsent::SendAgain && resends_left => {
                self.state.steps.get_mut(index)?.resends += 1;
                let words = format!("{name} shows that the call did not take effect; it is sent again");
                return self.settle_as_not_happened(index, words);
            }
            Finding::Absent => format!("{name} does not find the call"),
            Finding::Unclear(reason) => format!("{name} does not tell whether the call took effect: {reason}"),
        };
        self.add_mend(index, Rung::Settlement, MendEffect::NoHelp, words.clone(), MendDetail::Settled)?;
        match give_up {
            Some(reason) => {
                self.set_stage(index, Stage::Failed { reason: format!("{reason}; {words}"), fault: Some(fault) })
            }
            None => self.ask_to_send_again(index, fault, Some(words)),
        }
    }

    fn ask_to_send_again(&mut self, index: StepIndex, fault: Arc<CallFault>, check: Option<String>) -> Decided {
        let call = Box::new(self.last_call(index)?);
        let error = fault.to_string();
        self.ask_person(index, Some(fault), Question::SendAgain { call, error, check })
    }

    /// The call took effect: its step is done.
    pub(super) fn settle_as_happened(&mut self, index: StepIndex, result: Value, words: String) -> Decided {
        self.add_mend(index, Rung::Settlement, MendEffect::Applied, words, MendDetail::Settled)?;
        let call = Arc::new(self.last_call(index)?);
        self.set_stage(index, Stage::Done(result.into()))?;
        self.settle_key(index, call)
    }

    /// The calls of the step so far did not take effect: the call is sent again, and may be corrected afterwards.
    pub(super) fn settle_as_not_happened(&mut self, index: StepIndex, words: String) -> Decided {
        self.add_mend(index, Rung::Settlement, MendEffect::Applied, words, MendDetail::Settled)?;
        self.state.steps.get_mut(index)?.note_not_happened();
        let call = Arc::new(self.last_call(index)?);
        self.set_stage(index, Stage::Queued)?;
        self.settle_key(index, call)
    }
}
