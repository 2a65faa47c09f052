//! Steps with `verify`: after the call, a read call tells whether it had the wished effect.
//!
//! The call of the step is never made again for this. A read call that fails temporarily is sent again as often as any other one;
//! a reply that does not confirm the effect is asked for as often as the plan says.

use std::sync::Arc;

use reknit_expressions::{Binding, abridge, bind};
use reknit_mend::{ReplyContext, Verdict, classify_failure, classify_reply};
use reknit_plan::{PlanAuthor, PlannedStep, Verify};
use reknit_protocol::{CallTool, EffectId, EffectKind, Object, SideEffect, Value, join_first};

use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::knowledge::{StepContext, read_call};
use super::sources::Results;
use super::stage::{Stage, Verification, VerifyActivity};
use super::step_events::fault_of;
use super::step_handle::StepHandle;
use super::step_machine::StepMachine;
use crate::admitted_call::admit;
use crate::digest::jitter;
use crate::event::EventKind;
use crate::event::Started;
use crate::internal_error::{Decided, InternalError};
use crate::record::{CallEnd, RunRecord, WaitReason};
use crate::result_handle::ResultHandle;
use crate::times::ms_between;

/// How much of the last reply is shown, in bytes of JSON.
const SHOWN_REPLY: usize = 500;

/// What a read call said.
enum Reading {
    /// It answered, and does not confirm the effect: why.
    Unmet(String),
    /// It failed temporarily: why, and how long to wait at least before it is sent again; `None` not at all.
    Failed { reason: String, min_wait_ms: Option<u64> },
    /// Asking again does not help.
    Useless(String),
}

impl StepHandle<'_> {
    /// Verifies the result of a step whose call does not have a slot any more, as soon as one is free.
    pub(super) fn queue_verification(&mut self, result: ResultHandle) -> Decided {
        self.set_stage(Stage::Verifying(Arc::new(Verification::new(result))))
    }
}

impl CallControl<'_> {
    /// Asks again after a wait, or ends the step as unconfirmed.
    fn after_reading(&mut self, planned: &PlannedStep, mut verification: Verification, reading: Reading) -> Decided {
        let verify = verify_of(planned)?;
        let (reason, wait_ms) = match reading {
            Reading::Useless(reason) => (reason, None),
            Reading::Unmet(reason) => {
                verification.unmet += 1;
                (reason, (verification.unmet < verify.times).then_some(verify.wait_ms))
            }
            Reading::Failed { reason, min_wait_ms } => {
                verification.failures += 1;
                let failures = verification.failures;
                let wait_ms =
                    min_wait_ms.map_or(0, |least| self.started.verify_backoff_ms(planned, failures).max(least));
                (reason, (failures <= self.started.resend_policy(planned).times).then_some(wait_ms))
            }
        };
        let unmet = verification.unmet;
        let capability = format!("{}/{}", verify.tool, verify.capability);
        let unconfirmed = |more: &str| Stage::Unconfirmed {
            result: verification.result.clone(),
            reason: format!("`verify` with `{capability}`: {reason}{more}"),
        };
        let Some(wait_ms) = wait_ms else {
            let more = if unmet > 1 { format!("; {unmet} replies did not confirm it") } else { String::new() };
            return self.set_stage(unconfirmed(&more));
        };
        let until_ms = self.clock.now_ms.saturating_add_unsigned(wait_ms);
        if let Some(late) = self.too_late(until_ms)? {
            return self.set_stage(unconfirmed(&format!("; {late}")));
        }
        let step = self.step_mut()?;
        step.counts.verify_waits += 1;
        let id = EffectId::of_step(&planned.id, EffectKind::VerifyWait, step.counts.verify_waits);
        self.record(RunRecord::WaitStarted { id: id.clone(), until_ms, reason: WaitReason::Poll });
        let activity = VerifyActivity::Waiting { id, until_ms };
        self.set_stage(Stage::Verifying(Arc::new(Verification { activity, ..verification })))
    }
}

impl CallRepair<'_> {
    /// Makes the first read call for the result of a step, in the slot of its call.
    pub(super) fn start_verification(&mut self, planned: &PlannedStep, result: ResultHandle) -> Decided {
        if let Some(stop) = self.account.immediate_stop() {
            let reason = format!("its effect was not verified: {stop}");
            return self.set_stage(Stage::Unconfirmed { result, reason });
        }
        self.call_verify(planned, Verification::new(result))
    }

    /// Makes a read call that has got a slot.
    pub(super) fn leave_verify_queue(&mut self) -> Decided<bool> {
        let Stage::Verifying(verification) = self.step()?.stage() else { return Ok(false) };
        let verification = verification.as_ref().clone();
        self.call_verify(self.planned()?, verification)?;
        Ok(true)
    }

    fn call_verify(&mut self, planned: &PlannedStep, verification: Verification) -> Decided {
        let verify = verify_of(planned)?;
        let parameters = self.known().verify_parameters(planned, verify, verification.result.get());
        let pass = self.known().pass_for_own_read(&verify.tool, &verify.capability);
        let not_called = match pass.and_then(|pass| Ok((parameters?, pass))) {
            Err(reason) => Err(reason),
            Ok(admitted) => {
                if self.known().author() == PlanAuthor::Person {
                    self.account.added_tool_calls = self.account.added_tool_calls.saturating_add(1);
                }
                self.charge_tool_call().map(|()| admitted).map_err(|exhausted| {
                    let reason = exhausted.to_string();
                    self.account.stop_for(exhausted);
                    reason
                })
            }
        };
        let (parameters, pass) = match not_called {
            Ok(admitted) => admitted,
            Err(reason) => {
                let reason = format!("`verify`: {reason}");
                return self.set_stage(Stage::Unconfirmed { result: verification.result, reason });
            }
        };
        let timeout_ms = self.clock.call_timeout_ms(self.step()?);
        let step = self.step_mut()?;
        step.counts.verify_calls += 1;
        let id = EffectId::of_step(&planned.id, EffectKind::Verify, step.counts.verify_calls);
        let names = (&verify.tool, &verify.capability);
        let call = admit(read_call(id, &planned.id, names, parameters, timeout_ms), pass);
        self.record(RunRecord::CallStarted(call.share()));
        let activity = VerifyActivity::Calling(call);
        self.set_stage(Stage::Verifying(Arc::new(Verification { activity, ..verification })))
    }

    /// What the outcome of a read call says: `Ok` if it confirms the effect. `None` if the event is no such outcome.
    fn read_verification(
        &mut self,
        planned: &PlannedStep,
        call: &Arc<CallTool>,
        result: &ResultHandle,
        kind: &EventKind,
    ) -> Decided<Option<Result<(), Reading>>> {
        let (end, verdict) = match kind {
            EventKind::ToolAnswered { reply, .. } => {
                let end = CallEnd::of_reply(reply);
                if reply.job.is_some() {
                    self.record(RunRecord::CallEnded { call: Arc::clone(call), end, fault: None });
                    return Ok(Some(Err(Reading::Useless("it started a job instead of answering".to_owned()))));
                }
                (end, classify_reply(reply, ReplyContext::new(SideEffect::Read, self.clock.now_ms)))
            }
            EventKind::ToolFailed { failure, .. } => (CallEnd::of_failure(failure), classify_failure(failure)),
            EventKind::Interrupted { .. } => {
                self.record(RunRecord::CallEnded { call: Arc::clone(call), end: CallEnd::Interrupted, fault: None });
                let reason = "it was interrupted".to_owned();
                return Ok(Some(Err(Reading::Failed { reason, min_wait_ms: None })));
            }
            EventKind::BreakerOpen { until_ms, .. } => {
                self.record(RunRecord::CallSkipped { id: call.id.clone(), until_ms: *until_ms });
                let reason = "the circuit breaker of its tool is open, or the tool is at its limit".to_owned();
                let min_wait_ms = Some(ms_between(self.clock.now_ms, *until_ms));
                return Ok(Some(Err(Reading::Failed { reason, min_wait_ms })));
            }
            _ => return Ok(None),
        };
        let fault = fault_of(&verdict);
        self.record(RunRecord::CallEnded { call: Arc::clone(call), end, fault });
        let condition = &verify_of(planned)?.expect;
        Ok(Some(match verdict {
            Verdict::Success(reply) => match self.known().holds(planned, condition, result.get(), Some(&reply)) {
                Ok(true) => Ok(()),
                Ok(false) => {
                    let shown = abridge(&reply, SHOWN_REPLY, &[]);
                    Err(Reading::Unmet(format!("`{condition}` is false; the last reply is {shown}")))
                }
                Err(reason) => Err(Reading::Unmet(reason)),
            },
            // The tool asks for a longer wait than the settings allow.
            Verdict::Transient(fault) if fault.wait_ms > Some(self.policy().resend.max_retry_after_ms) => {
                Err(Reading::Useless(fault.to_string()))
            }
            Verdict::Transient(fault) => {
                Err(Reading::Failed { reason: fault.to_string(), min_wait_ms: Some(fault.wait_ms.unwrap_or(0)) })
            }
            Verdict::Permanent(fault) | Verdict::Correctable(fault) => Err(Reading::Unmet(fault.to_string())),
        }))
    }
}

impl StepMachine<'_> {
    /// Applies an event to a step that is being verified; returns whether it is about that.
    pub(super) fn on_verify_event(&mut self, kind: &EventKind) -> Decided<bool> {
        let Stage::Verifying(verification) = self.step()?.stage() else { return Ok(false) };
        let verification = verification.as_ref().clone();
        let planned = self.planned()?;
        match (&verification.activity, kind) {
            (VerifyActivity::Waiting { id, .. }, EventKind::Woke { effect }) if id == effect => {
                self.record(RunRecord::WaitEnded(effect.clone()));
                let queued = Verification { activity: VerifyActivity::Queued, ..verification };
                self.set_stage(Stage::Verifying(Arc::new(queued)))?;
            }
            (VerifyActivity::Calling(call), kind) if kind.effect() == Some(&call.id) => {
                match self.read_verification(planned, &call.share(), &verification.result, kind)? {
                    None => return Ok(false),
                    Some(Ok(())) => self.end_with_result(verification.result)?,
                    Some(Err(reading)) => self.after_reading(planned, verification, reading)?,
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Started {
    /// The wait before a read call that failed temporarily is sent again.
    fn verify_backoff_ms(&self, planned: &PlannedStep, failures: u32) -> u64 {
        let rules = &self.policy.resend;
        let doubled = rules.base_ms.saturating_mul(1u64.checked_shl(failures - 1).unwrap_or(u64::MAX));
        let wait_ms = doubled.min(rules.max_ms.saturating_mul(4) / 5);
        let id = EffectId::of_step(&planned.id, EffectKind::VerifyWait, failures);
        wait_ms.saturating_add(jitter(self.seed, &id.to_string(), wait_ms / 4))
    }
}

impl StepContext<'_> {
    fn verify_parameters(&self, planned: &PlannedStep, verify: &Verify, result: &Value) -> Result<Object, String> {
        let results = Results { result: Some(result), ..self.results(Some(planned)) };
        match bind(&verify.parameters, &results, &[], verify.schema.as_deref()) {
            Binding::Bound(bound) => Ok(bound.parameters),
            Binding::Misfit { problems, .. } => {
                Err(format!("its parameters do not fit their schema: {}", join_first(&problems)))
            }
            Binding::Unbound { unbound, .. } => {
                let reasons: Vec<String> = unbound.iter().map(ToString::to_string).collect();
                Err(format!("its parameters have no values: {}", reasons.join("; ")))
            }
        }
    }
}

fn verify_of(planned: &PlannedStep) -> Decided<&Verify> {
    planned.controls.verify.as_ref().ok_or_else(|| InternalError::new("a step is verified that has no `verify`"))
}
