//! Events about a step: its call ended, its wait is over, a person decided.

use std::sync::Arc;

use reknit_mend::{
    CallFault, FaultOrigin, LadderPolicy, MendEffect, ModelRung, Remedy, RepairState, ReplyContext, ResendPolicy, Rung,
    Verdict, choose_remedy, classify_failure,
};
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{CallTool, EffectId, EffectKind, Value};

use super::Run;
use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::correction::Correction;
use super::knowledge::{Knowledge, StepContext};
use super::stage::Stage;
use super::step_handle::StepHandle;
use super::step_machine::StepMachine;
use super::step_run::StepRun;
use crate::digest::jitter;
use crate::effect::{AskedBy, Question};
use crate::event::Started;
use crate::event::{DecidedBy, Decision, EventKind};
use crate::internal_error::{Decided, InternalError};
use crate::record::{CallEnd, MendDetail, RunRecord, WaitReason};
use crate::times::ms_between;

impl Run {
    /// Applies an event about a step; returns whether it was one.
    pub(super) fn on_step_event(&mut self, kind: &EventKind) -> Decided<bool> {
        let step = kind.effect().and_then(EffectId::step);
        match step.and_then(|step| self.plan.index_of(step.as_str())) {
            Some(index) => self.at(index).on_event(kind),
            None => Ok(false),
        }
    }
}

impl StepHandle<'_> {
    /// Lets a step wait before its call is made, or made again.
    pub(super) fn wait(&mut self, id: EffectId, until_ms: i64, reason: WaitReason) -> Decided {
        self.record(RunRecord::WaitStarted { id: id.clone(), until_ms, reason });
        self.set_stage(Stage::BackingOff { id, until_ms, reason })
    }

    /// Counts a step that ends in failure although models were asked; a success resets the counts of its tool.
    pub(super) fn note_repeated_failure(&mut self, stage: &Stage) -> Decided {
        let step = self.step()?;
        if step.rungs.feedback == 0 && step.rungs.context == 0 {
            return Ok(());
        }
        let planned = self.planned()?;
        match stage {
            Stage::Done(_) => {
                let tool = tool_prefix(planned);
                self.ruled_out.failures.retain(|key, _| !key.starts_with(&tool));
            }
            Stage::Failed { fault: Some(fault), .. } => {
                *self.ruled_out.failures.entry(failure_key(planned, fault)).or_default() += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

impl CallControl<'_> {
    /// Records that a tool rejected a call after the last correction by feedback.
    fn note_exhausted_feedback(&mut self, verdict: &Verdict, remedy: &Remedy) -> Decided {
        let limit = self.policy().mending.feedback;
        let Verdict::Correctable(fault) = verdict else { return Ok(()) };
        let by_tool = matches!(fault.origin, FaultOrigin::Status(_)) && !fault.rules_out_retry();
        let used_up = limit > 0 && self.step()?.rungs.feedback >= limit;
        if by_tool && used_up && *remedy != Remedy::Feedback {
            let step = self.planned()?.id.clone();
            self.record(RunRecord::FeedbackExhausted(step));
        }
        Ok(())
    }

    /// Waits before the same call is sent again: longer each time, and never shorter than the tool asked for.
    fn back_off(&mut self, fault: Arc<CallFault>, min_wait_ms: u64) -> Decided {
        let planned = self.planned()?;
        let step = self.step_mut()?;
        step.counts.resends += 1;
        let times = step.counts.resends;
        let id = EffectId::of_step(&planned.id, EffectKind::RetryWait, step.before_retry.resends + times);
        let rules = &self.started.policy.resend;
        // The jitter below adds up to a quarter, and stays within the longest wait.
        let most_ms = rules.max_ms.saturating_mul(4) / 5;
        let doubled = rules.base_ms.saturating_mul(1u64.checked_shl(times - 1).unwrap_or(u64::MAX)).min(most_ms);
        let wait_ms = match fault.origin {
            // Our own process ended; the tool needs no pause.
            FaultOrigin::Interrupted => 0,
            FaultOrigin::Local | FaultOrigin::Transport(_) | FaultOrigin::Status(_) => {
                let wait_ms = doubled.max(min_wait_ms);
                // Callers that failed together must not come back together.
                wait_ms.saturating_add(jitter(self.started.seed, &id.to_string(), wait_ms / 4))
            }
        };
        let words = format!("sent again after {wait_ms} ms, for {fault}");
        let detail = MendDetail::Resent { times, fault: Arc::clone(&fault) };
        self.add_mend(Rung::Resend, MendEffect::Applied, words, detail)?;
        let until_ms = self.clock.now_ms.saturating_add_unsigned(wait_ms);
        if let Some(reason) = self.too_late(until_ms)? {
            return self.fail_late(reason, Some(fault));
        }
        self.wait(id, until_ms, WaitReason::Retry)
    }
}

impl CallRepair<'_> {
    /// Applies the remedy for a failure.
    pub(super) fn apply_remedy(&mut self, fault: Arc<CallFault>, remedy: Remedy) -> Decided {
        match remedy {
            Remedy::Resend { min_wait_ms } => self.back_off(fault, min_wait_ms),
            Remedy::Feedback => self.consult_about(fault, ModelRung::Feedback),
            Remedy::Context => self.consult_about(fault, ModelRung::Context),
            Remedy::AskPerson => self.ask_about_outcome(fault),
            Remedy::GiveUp(reason) => self.give_up(fault, reason),
        }
    }

    /// Sends a corrected call, or asks whether it may be sent.
    pub(super) fn send_corrected(&mut self, fault: Arc<CallFault>, correction: Correction) -> Decided {
        self.step_mut()?.number_correction();
        if correction.needs_approval {
            return self.ask_about_correction(fault, correction, AskedBy::Correction);
        }
        if self.known().judge().rule_to_ask(self.index)?.is_some() {
            return self.ask_about_correction(fault, correction, AskedBy::Rules);
        }
        self.set_stage(Stage::Queued)
    }

    /// Asks a person whether a call with changed or found values is sent.
    pub(super) fn ask_about_correction(
        &mut self,
        fault: Arc<CallFault>,
        correction: Correction,
        asked_by: AskedBy,
    ) -> Decided {
        let (call, error) = (Box::new(self.next_call()?), fault.to_string());
        let Correction { change, reason, row, .. } = correction;
        let reasons = [Some(reason), self.known().judge().rule_to_ask(self.index)?]
            .into_iter()
            .flatten()
            .filter(|reason| !reason.is_empty());
        let reason = reasons.collect::<Vec<_>>().join("; ");
        self.ask_person(Some(fault), Question::SendCorrected { call, error, change, reason, asked_by, row })
    }
}

impl StepMachine<'_> {
    /// Applies an event that names the step; returns whether the step waits for it.
    fn on_event(&mut self, kind: &EventKind) -> Decided<bool> {
        let stage = self.step()?.stage();
        match (stage, kind) {
            (Stage::Calling(call) | Stage::Stopping(call), kind) if kind.effect() == Some(&call.id) => {
                let (call, stopping) = (call.share(), matches!(stage, Stage::Stopping(_)));
                self.on_call_event(call, stopping, kind)
            }
            (Stage::BackingOff { id, .. }, EventKind::Woke { effect }) if id == effect => {
                self.record(RunRecord::WaitEnded(effect.clone()));
                self.set_stage(Stage::Queued)?;
                Ok(true)
            }
            (Stage::AwaitingJob(_), kind) => self.on_job_event(kind),
            (Stage::Checking { call, .. }, kind) if kind.effect() == Some(&call.id) => self.on_check_event(kind),
            (Stage::Verifying(_), kind) => self.on_verify_event(kind),
            (Stage::AwaitingApproval { ask, .. }, EventKind::PersonDecided { effect, hash, decision, by })
                if ask.id == *effect
                    && ask.hash == *hash
                    && self.known().judge().can_answer(self.index, &ask.question, decision)? =>
            {
                self.on_decision(decision.clone(), *by, false)?;
                Ok(true)
            }
            (Stage::AwaitingApproval { ask, .. }, EventKind::Woke { effect })
                if ask.id.with_kind(EffectKind::ApprovalExpiry) == *effect =>
            {
                self.on_decision(Decision::Deny { reason: None }, DecidedBy::Person, true)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Applies the outcome of a call in progress.
    fn on_call_event(&mut self, call: Arc<CallTool>, stopping: bool, kind: &EventKind) -> Decided<bool> {
        let (end, verdict) = match kind {
            EventKind::ToolAnswered { reply, .. } if reply.job.is_some() => {
                let (id, end) = (call.id.clone(), CallEnd::Replied { status: reply.status, fixes: Vec::new() });
                self.record(RunRecord::CallEnded { call, end, fault: None });
                self.start_job(&id, reply)?;
                return Ok(true);
            }
            EventKind::ToolAnswered { reply, .. } => {
                self.settle_session(reply)?;
                (CallEnd::of_reply(reply), self.known().verdict_of(self.planned()?, reply, self.clock.now_ms))
            }
            EventKind::ToolFailed { failure, .. } => (CallEnd::of_failure(failure), classify_failure(failure)),
            EventKind::Interrupted { .. } => {
                let fault = if stopping { self.known().abandoned_call() } else { CallFault::interrupted() };
                (CallEnd::Interrupted, Verdict::Transient(fault))
            }
            EventKind::BreakerOpen { until_ms, .. } => {
                self.record(RunRecord::CallSkipped { id: call.id.clone(), until_ms: *until_ms });
                self.on_breaker_open(*until_ms)?;
                return Ok(true);
            }
            EventKind::ReceiptKnown { receipt, .. } => {
                return self.on_known_receipt(&call, receipt).map(|()| true);
            }
            EventKind::KeyHeld { holder, .. } => return self.on_key_held(&call, holder).map(|()| true),
            _ => return Ok(false),
        };
        let fault = fault_of(&verdict);
        self.record(RunRecord::CallEnded { call: Arc::clone(&call), end, fault });
        self.on_verdict(verdict)?;
        self.settle_key(call)?;
        Ok(true)
    }

    /// Decides what follows from the verdict on a call, or on a call that could not be sent.
    pub(super) fn on_verdict(&mut self, verdict: Verdict) -> Decided {
        let planned = self.planned()?;
        let side_effect = self.known().side_effect(planned);
        let step = self.step_mut()?;
        let Some(fault) = fault_of(&verdict) else {
            step.add_attempt(None);
            let Verdict::Success(value) = verdict else { return Ok(()) };
            return self.on_result(planned, value);
        };
        let state = self.known().repair_state(self.step()?, planned, &fault);
        let step = self.step_mut()?;
        step.add_attempt(Some(Arc::clone(&fault)));
        if let Some(reason) = self.account.immediate_stop() {
            return self.set_stage(Stage::Failed { reason, fault: Some(fault) });
        }
        if let Some(reason) = self.too_late(self.clock.now_ms)? {
            return self.fail_late(reason, Some(fault));
        }
        let about_input = match &verdict {
            Verdict::Correctable(_) => true,
            // The service may be down; what it says about the input counts only if the call has such an input.
            Verdict::Transient(fault) => {
                fault.origin == FaultOrigin::Status(503) && self.known().is_about_input(self.index, fault)?
            }
            Verdict::Success(_) | Verdict::Permanent(_) => false,
        };
        self.note_rejected_rule(&verdict)?;
        if about_input && (self.repair_by_rules(&fault)? || self.repair_by_learned_rule(&fault)?) {
            return Ok(());
        }
        let resend = self.known().resend_policy(planned);
        let ladder = LadderPolicy { resend: &resend, ..self.context.started.policy.ladder() };
        let remedy = choose_remedy(&verdict, side_effect, RepairState { about_input, ..state }, ladder)
            .ok_or_else(|| InternalError::new("a failed call has no remedy"))?;
        self.note_exhausted_feedback(&verdict, &remedy)?;
        self.apply_remedy(fault, remedy)
    }
}

impl Started {
    /// What the meaning of a reply to a step's call depends on.
    pub(super) fn reply_context<'s>(&self, planned: &'s PlannedStep, now_ms: i64) -> ReplyContext<'s> {
        let announced = planned.announced.as_deref();
        let kind = announced.and_then(|schema| schema.get("type")).and_then(Value::as_str);
        let has_properties = announced.is_some_and(|schema| schema.get("properties").is_some());
        ReplyContext {
            errors_in_success: self.policy.errors_in_success.get(planned.tool.as_str()).copied().unwrap_or_default(),
            error_fields: planned.error_fields.as_ref(),
            announces_data: has_properties || matches!(kind, Some("object" | "array")),
            ..ReplyContext::new(self.side_effect(planned), now_ms)
        }
    }

    /// How a call of a step is sent again: as the policy says, but as often as the plan says.
    pub(super) fn resend_policy(&self, planned: &PlannedStep) -> ResendPolicy {
        let policy = &self.policy.resend;
        ResendPolicy { times: planned.controls.resends.unwrap_or(policy.times), ..policy.clone() }
    }
}

impl StepContext<'_> {
    /// The parameters of a step as JSON, for prompts.
    pub(super) fn parameters_text(&self, index: StepIndex) -> Decided<String> {
        Ok(Value::Object(self.steps.get(index)?.parameters.clone()).to_pretty())
    }
}

impl Knowledge<'_> {
    /// The failure of a call that was in progress when the run stopped. If the drain time is over, the run gave it up;
    /// otherwise another process took over from one that is gone.
    fn abandoned_call(&self) -> CallFault {
        let drain_ms = self.policy().limits.drain_ms;
        let waited_ms = self.account.stopped_ms.map_or(0, |since| ms_between(since, self.clock.now_ms));
        if waited_ms < drain_ms { CallFault::interrupted() } else { CallFault::abandoned(drain_ms) }
    }

    // The progress guard: when steps keep failing in the same way at the same tool although models were asked each time, models
    // are not asked again. They would see what they saw before.

    /// What a step has used up, and how many others failed in the same way.
    pub(super) fn repair_state(&self, step: &StepRun, planned: &PlannedStep, fault: &CallFault) -> RepairState {
        let similar_failures = self.ruled_out.failures.get(&failure_key(planned, fault)).copied().unwrap_or_default();
        RepairState { similar_failures, ..step.repair_state(fault, planned, self.side_effect(planned)) }
    }
}

/// The failure that a verdict is about; `None` for a success.
pub(super) fn fault_of(verdict: &Verdict) -> Option<Arc<CallFault>> {
    match verdict {
        Verdict::Success(_) => None,
        Verdict::Permanent(fault) | Verdict::Transient(fault) | Verdict::Correctable(fault) => {
            Some(Arc::new(fault.clone()))
        }
    }
}

fn tool_prefix(planned: &PlannedStep) -> String {
    format!("{}/{} ", planned.tool, planned.capability)
}

/// Identifies a way of failing: tool, status and code.
fn failure_key(planned: &PlannedStep, fault: &CallFault) -> String {
    format!("{}{} {}", tool_prefix(planned), fault.status().unwrap_or(0), fault.code)
}
