//! Calls that were due and are not sent: the circuit breaker of their tool is open, another call has taken the action of their
//! business key, the outcome of that other call is unknown, or the time limit of the step is reached.
//!
//! There is no timer for a step: nothing that it does may last beyond its deadline, and nothing starts after it.

use std::sync::Arc;

use reknit_mend::{CallFault, MendEffect, Rung};
use reknit_plan::PlannedStep;
use reknit_protocol::{BusinessKey, CallTool, EffectId, EffectKind, KeyRule, Object, SideEffect, human_duration};

use super::Run;
use super::call_control::CallControl;
use super::stage::Stage;
use super::step_handle::StepHandle;
use super::step_run::StepRun;
use crate::business_key::{KeyFinding, KeyHolder, KeySettlement, KnownReceipt, business_key};
use crate::digest::jitter;
use crate::event::Started;
use crate::internal_error::Decided;
use crate::record::{MendDetail, RunRecord, WaitReason};
use crate::times::ms_between;

/// The first wait for another call, which is doubled each time.
const FIRST_WAIT_MS: u64 = 1_000;

/// The longest wait for another call.
const MAX_WAIT_MS: u64 = 30_000;

/// How often a step waits for other calls: about a day. Time limits usually end it before.
const MAX_WAITS: u32 = 3_000;

/// How often a step may find its tool's circuit breaker open. Each time is a wait of its own, so this bounds them.
const MAX_SKIPPED_CALLS: u32 = 5;

impl Run {
    /// Extends the deadlines of all steps in progress by the time in which no process drove the run.
    pub(super) fn extend_deadlines(&mut self, ms: i64) {
        for step in self.state.steps.iter_mut() {
            // A step that awaits approval or a job gets all of that time back when the person has decided or the job has ended.
            if !matches!(step.stage(), Stage::AwaitingApproval { .. } | Stage::AwaitingJob(_)) {
                step.extend_deadline(ms);
                if let Some(question) = step.consultation_mut() {
                    question.extend_deadline(ms);
                }
            }
        }
    }
}

impl StepHandle<'_> {
    /// Another call has done the deed: the step is done with its receipt.
    pub(super) fn on_known_receipt(&mut self, call: &CallTool, receipt: &KnownReceipt) -> Decided {
        let KnownReceipt { run, step, at_ms, result } = receipt.clone();
        let finding = KeyFinding::Receipt { run, step, at_ms };
        let description = finding.to_string();
        self.note_unsent(call, finding)?;
        self.step_mut()?.key_holder = None;
        self.add_mend(Rung::Settlement, MendEffect::Applied, description, MendDetail::Settled)?;
        self.set_stage(Stage::Done(result.into()))
    }

    /// A call that was due is not sent, because of its key.
    fn note_unsent(&mut self, call: &CallTool, finding: KeyFinding) -> Decided {
        self.account.spent.refund_tool_call();
        self.step_mut()?.counts.unsent_for_key += 1;
        self.record(RunRecord::KeyFound { id: call.id.clone(), finding });
        Ok(())
    }

    /// Decides what is stored about the key of a step's last call: done with its receipt, or released if the call certainly had no
    /// effect. While that is unknown, nobody else may do the deed.
    pub(super) fn settle_key(&mut self, call: Arc<CallTool>) -> Decided {
        if call.business_key.is_none() {
            return Ok(());
        }
        let step = self.step_mut()?;
        step.key_holder = None;
        let settlement = match step.stage() {
            Stage::Done(result) | Stage::Unconfirmed { result, .. } => KeySettlement::Done(result.clone()),
            Stage::Verifying(verification) => KeySettlement::Done(verification.result.clone()),
            _ if step.may_have_happened(call.side_effect, None) => return Ok(()),
            _ => KeySettlement::Released,
        };
        self.record(RunRecord::KeySettled { call, settlement });
        Ok(())
    }

    /// Fails a step whose deadline has passed.
    pub(super) fn fail_late(&mut self, reason: String, fault: Option<Arc<CallFault>>) -> Decided {
        let fault = fault.or_else(|| self.steps.get(self.index).ok()?.last_fault().cloned());
        self.set_stage(Stage::Failed { reason, fault })
    }
}

impl CallControl<'_> {
    /// The call of a step was not made because the tool's circuit breaker is open. It is made later, unless that is too
    /// late.
    pub(super) fn on_breaker_open(&mut self, until_ms: i64) -> Decided {
        self.account.spent.refund_tool_call();
        let planned = self.planned()?;
        let (now_ms, max_retry_after_ms) = (self.clock.now_ms, self.policy().resend.max_retry_after_ms);
        let late = match self.account.immediate_stop() {
            Some(reason) => Some(reason),
            None => self.too_late(until_ms)?,
        };
        let step = self.step_mut()?;
        step.counts.skipped_calls += 1;
        let skipped = step.counts.skipped_calls;
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
            return self.set_stage(Stage::Failed { reason, fault });
        }
        let id = EffectId::of_step(&planned.id, EffectKind::BreakerWait, skipped);
        self.wait(id, until_ms, WaitReason::BreakerOpen)
    }

    /// Records once that a call has no business key although its capability has a rule for it.
    pub(super) fn note_missing_key(&mut self) -> Decided {
        let planned = self.planned()?;
        let step = self.step()?;
        let names = (planned.tool.as_str(), planned.capability.as_str());
        let key = self.started.key_rule(planned).map(|rule| business_key(rule, names, &step.parameters));
        let Some(Err(field)) = key else { return Ok(()) };
        let description =
            format!("the call has no business key, because `{field}` has no value: an equal call is not recognised");
        if step.mends.iter().any(|mend| mend.description == description) {
            return Ok(());
        }
        self.add_mend(Rung::Settlement, MendEffect::NoHelp, description, MendDetail::Settled)
    }

    /// The outcome of another call with the same key is unknown: this one is due again after a wait, within the limits of the step
    /// and the run.
    pub(super) fn on_key_held(&mut self, call: &CallTool, holder: &KeyHolder) -> Decided {
        self.note_unsent(call, KeyFinding::Held(holder.clone()))?;
        let step = self.step_mut()?;
        step.key_holder = Some(Box::new(holder.clone()));
        let waits = step.counts.unsent_for_key;
        let id = EffectId::of_step(&call.step, EffectKind::KeyWait, waits);
        let doubled = FIRST_WAIT_MS.saturating_mul(1u64.checked_shl(waits - 1).unwrap_or(u64::MAX));
        // The jitter adds up to a quarter, and stays within the longest wait: callers that wait together come back apart.
        let wait_ms = doubled.min(MAX_WAIT_MS * 4 / 5);
        let wait_ms = wait_ms.saturating_add(jitter(self.started.seed, &id.to_string(), wait_ms / 4));
        let now_ms = self.clock.now_ms;
        let wait_end = now_ms.saturating_add_unsigned(wait_ms);
        let until_ms = if holder.until_ms > now_ms { wait_end.min(holder.until_ms) } else { wait_end };
        let give_up = match self.account.immediate_stop() {
            Some(reason) => Some(reason),
            None if waits > MAX_WAITS => Some(format!("it waited {MAX_WAITS} times")),
            None => self.too_late(until_ms)?,
        };
        if let Some(reason) = give_up {
            return self.fail_late(format!("not sent: {holder}; {reason}"), None);
        }
        self.wait(id, until_ms, WaitReason::KeyHeld)
    }

    /// Starts the time of a step: its dependencies are done.
    pub(super) fn start_step_deadline(&mut self, planned: &PlannedStep) -> Decided {
        self.step_mut()?.deadline_ms = self.clock.step_deadline_ms(planned);
        Ok(())
    }
}

impl Started {
    /// Which parameters identify the deed of a step: configured, or else declared. A read is no deed.
    fn key_rule<'a>(&'a self, planned: &'a PlannedStep) -> Option<&'a KeyRule> {
        let configured = self.policy.effects.key(planned.tool.as_str(), planned.capability.as_str());
        let rule = configured.or(planned.declared_key.as_ref())?;
        (self.side_effect(planned) != SideEffect::Read).then_some(rule)
    }

    /// The business key of a step's call with these parameters.
    pub(super) fn business_key(&self, planned: &PlannedStep, parameters: &Object) -> Option<BusinessKey> {
        let names = (planned.tool.as_str(), planned.capability.as_str());
        business_key(self.key_rule(planned)?, names, parameters).ok()
    }
}

impl StepRun {
    pub(super) fn extend_deadline(&mut self, ms: i64) {
        self.deadline_ms = self.deadline_ms.map(|deadline| deadline.saturating_add(ms));
    }
}
