//! Whether a call took effect, and whether its result is what its tool announces and its plan expects.
//!
//! With `until`, a call that only reads is made again until its result is as wished: the time between two calls does not count as
//! active time of the run, but for the time limit of the step. A call with an unknown outcome is settled by a check that the
//! configuration names, then by a person.

use std::sync::Arc;

use reknit_expressions::{Expression, abridge};
use reknit_mend::{CallFault, MendEffect, Rung};
use reknit_plan::{PlanAuthor, PlannedStep, Until};
use reknit_protocol::{EffectId, EffectKind, Value, join_first};

use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::knowledge::{Reports, StepContext, read_call};
use super::sources::Results;
use super::stage::Stage;
use super::step_machine::StepMachine;
use crate::admitted_call::admit;
use crate::answer::limit_items;
use crate::effect::Question;
use crate::event::{EventKind, Started};
use crate::internal_error::{Decided, InternalError};
use crate::outcome_check::{Finding, IfAbsent, OutcomeCheck};
use crate::policy::UnfitResults;
use crate::record::{CallEnd, MendDetail, RunRecord, WaitReason};
use crate::result_handle::{ResultHandle, response_data};

/// How much of the last result the failure of a step shows, in bytes of JSON.
const SHOWN_RESULT: usize = 500;

impl CallControl<'_> {
    /// Waits before the call is made again, with resends of its own. Returns why it is not made again.
    fn wait_for_next_poll(&mut self, planned: &PlannedStep, until: &Until) -> Decided<Option<String>> {
        if let Some(stop) = self.account.immediate_stop() {
            return Ok(Some(stop));
        }
        let polls = self.step()?.counts.polls;
        if polls >= until.times {
            let results = if polls == 1 { "1 result".to_owned() } else { format!("{polls} results") };
            return Ok(Some(format!("`until`: `{}` is false after {results}", until.condition)));
        }
        let until_ms = self.clock.now_ms.saturating_add_unsigned(until.wait_ms);
        if let Some(reason) = self.too_late(until_ms)? {
            return Ok(Some(reason));
        }
        if self.started.author() == PlanAuthor::Person {
            self.account.added_tool_calls = self.account.added_tool_calls.saturating_add(1);
        }
        let step = self.step_mut()?;
        step.renew_resends();
        let id = EffectId::of_step(&planned.id, EffectKind::PollWait, step.before_retry.polls + polls);
        self.wait(id, until_ms, WaitReason::Poll)?;
        Ok(None)
    }

    /// Asks a person about a call that may have taken effect, after its check, if it has one.
    pub(super) fn ask_about_outcome(&mut self, fault: Arc<CallFault>) -> Decided {
        if self.started.check_of(self.planned()?).is_some() {
            self.start_check(fault, None)
        } else {
            self.ask_to_send_again(fault, None)
        }
    }

    /// Ends a step that cannot be repaired. A call that may have taken effect is checked first.
    pub(super) fn give_up(&mut self, fault: Arc<CallFault>, reason: String) -> Decided {
        let class = self.started.side_effect(self.planned()?);
        let is_uncertain = self.step()?.may_have_happened(class, Some(&fault));
        if is_uncertain && self.started.check_of(self.planned()?).is_some() {
            return self.start_check(fault, Some(reason));
        }
        self.set_stage(Stage::Failed { reason, fault: Some(fault) })
    }

    /// Calls the check of a step. Without an answer that settles the outcome, the step fails for the reason `give_up`, or a
    /// person is asked if there is none.
    pub(super) fn start_check(&mut self, fault: Arc<CallFault>, give_up: Option<String>) -> Decided {
        let last = self.last_call()?;
        let check = self
            .started
            .check_of(self.planned()?)
            .ok_or_else(|| InternalError::new("a check that is not configured"))?
            .clone();
        let parameters = check.parameters_for(&last);
        let parameters = parameters.map_err(|problem| format!("its parameters have no values: {problem}"));
        let pass = self.started.pass_for_own_read(&check.tool, &check.capability);
        let (parameters, pass) = match pass.and_then(|pass| Ok((parameters?, pass))) {
            Ok(admitted) => admitted,
            Err(problem) => return self.after_check(fault, give_up, &check, Finding::Unclear(problem)),
        };
        if let Err(exhausted) = self.charge_tool_call() {
            let reason = exhausted.to_string();
            self.account.stop_for(exhausted);
            return self.after_check(fault, give_up, &check, Finding::Unclear(reason));
        }
        let timeout_ms = self.clock.call_timeout_ms(self.step()?);
        let step = self.step_mut()?;
        step.counts.checks += 1;
        let id = EffectId::of_step(&last.step, EffectKind::Check, step.counts.checks);
        let names = (&check.tool, &check.capability);
        let call = admit(read_call(id, &last.step, names, parameters, timeout_ms), pass);
        self.record(RunRecord::CallStarted(call.share()));
        self.set_stage(Stage::Checking { call, fault, give_up })
    }

    /// Applies the outcome of a check; returns whether the event was one.
    pub(super) fn on_check_event(&mut self, kind: &EventKind) -> Decided<bool> {
        let Stage::Checking { call, fault, give_up } = self.step()?.stage() else { return Ok(false) };
        let (call, fault, give_up) = (call.share(), Arc::clone(fault), give_up.clone());
        let check = self
            .started
            .check_of(self.planned()?)
            .ok_or_else(|| InternalError::new("a check that is not configured"))?
            .clone();
        let (end, finding) = match kind {
            EventKind::ToolAnswered { reply, .. } if reply.job.is_some() => {
                let end = CallEnd::Replied { status: reply.status, fixes: Vec::new() };
                (end, Finding::Unclear("it started a job instead of answering".to_owned()))
            }
            EventKind::ToolAnswered { reply, .. } => (CallEnd::of_reply(reply), check.read(&self.last_call()?, reply)),
            EventKind::ToolFailed { failure, .. } => {
                (CallEnd::of_failure(failure), Finding::Unclear(failure.message.clone()))
            }
            EventKind::Interrupted { .. } => (CallEnd::Interrupted, Finding::Unclear("it was interrupted".to_owned())),
            EventKind::BreakerOpen { until_ms, .. } => {
                self.record(RunRecord::CallSkipped { id: call.id.clone(), until_ms: *until_ms });
                let reason = "the circuit breaker of its tool is open, or the tool is at its limit".to_owned();
                self.after_check(fault, give_up, &check, Finding::Unclear(reason))?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.record(RunRecord::CallEnded { call, end, fault: None });
        self.after_check(fault, give_up, &check, finding)?;
        Ok(true)
    }

    fn after_check(
        &mut self,
        fault: Arc<CallFault>,
        give_up: Option<String>,
        check: &OutcomeCheck,
        finding: Finding,
    ) -> Decided {
        let name = format!("`{}` of `{}`", check.capability, check.tool);
        let most = self.started.resend_policy(self.planned()?).times;
        let resends_left = self.step()?.counts.resends < most;
        let words = match finding {
            Finding::Happened(result) => {
                return self.settle_as_happened(result, format!("{name} shows that the call took effect"));
            }
            Finding::Absent if check.if_absent == IfAbsent::SendAgain && resends_left => {
                self.step_mut()?.counts.resends += 1;
                let words = format!("{name} shows that the call did not take effect; it is sent again");
                return self.settle_as_not_happened(words);
            }
            Finding::Absent => format!("{name} does not find the call"),
            Finding::Unclear(reason) => format!("{name} does not tell whether the call took effect: {reason}"),
        };
        self.add_mend(Rung::Settlement, MendEffect::NoHelp, words.clone(), MendDetail::Settled)?;
        match give_up {
            Some(reason) => self.set_stage(Stage::Failed { reason: format!("{reason}; {words}"), fault: Some(fault) }),
            None => self.ask_to_send_again(fault, Some(words)),
        }
    }

    fn ask_to_send_again(&mut self, fault: Arc<CallFault>, check: Option<String>) -> Decided {
        let call = Box::new(self.last_call()?);
        let error = fault.to_string();
        self.ask_person(Some(fault), Question::SendAgain { call, error, check })
    }

    /// The call took effect: its step is done.
    pub(super) fn settle_as_happened(&mut self, result: Value, words: String) -> Decided {
        self.add_mend(Rung::Settlement, MendEffect::Applied, words, MendDetail::Settled)?;
        let call = Arc::new(self.last_call()?);
        self.set_stage(Stage::Done(result.into()))?;
        self.settle_key(call)
    }

    /// The calls of the step so far did not take effect: the call is sent again, and may be corrected afterwards.
    pub(super) fn settle_as_not_happened(&mut self, words: String) -> Decided {
        self.add_mend(Rung::Settlement, MendEffect::Applied, words, MendDetail::Settled)?;
        self.step_mut()?.note_not_happened();
        let call = Arc::new(self.last_call()?);
        self.set_stage(Stage::Queued)?;
        self.settle_key(call)
    }
}

impl CallRepair<'_> {
    /// Whether the result is not as wished. The step then waits before it asks again, or fails.
    pub(super) fn asks_again(&mut self, planned: &PlannedStep, until: &Until, value: &Value) -> Decided<bool> {
        self.step_mut()?.counts.polls += 1;
        let failed = match self.known().holds(planned, &until.condition, value, None) {
            Ok(true) => return Ok(false),
            Ok(false) => self.wait_for_next_poll(planned, until)?,
            Err(reason) => Some(format!("`until`: {reason}")),
        };
        if let Some(reason) = failed {
            let reason = format!("{reason}; the last result is {}", abridge(value, SHOWN_RESULT, &[]));
            self.set_stage(Stage::Failed { reason, fault: None })?;
        }
        Ok(true)
    }
}

impl StepMachine<'_> {
    /// A call of the step succeeded: its result is that of the step, unless the plan wishes for another one.
    pub(super) fn on_result(&mut self, planned: &PlannedStep, value: Value) -> Decided {
        if let Some(until) = &planned.controls.until
            && self.asks_again(planned, until, &value)?
        {
            return Ok(());
        }
        let event = self.event;
        let misfit = self.misfit(planned, &value);
        self.step_mut()?.misfit.clone_from(&misfit);
        let result = ResultHandle::new(value, event);
        match misfit.filter(|_| self.policy().unfit_results == UnfitResults::Fail) {
            Some(misfit) => {
                let reason = format!("its result does not fit the schema that its tool announces: {misfit}");
                self.set_stage(Stage::Unconfirmed { result, reason })
            }
            None => self.confirm(planned, result),
        }
    }

    /// Ends a step with a result that its plan may have to confirm first.
    pub(super) fn confirm(&mut self, planned: &PlannedStep, result: ResultHandle) -> Decided {
        if let Some(condition) = &planned.controls.expect {
            let unmet = match self.known().holds(planned, condition, result.get(), None) {
                Ok(true) => None,
                Ok(false) => Some(format!("`expect`: `{condition}` is false")),
                Err(reason) => Some(format!("`expect`: {reason}")),
            };
            if let Some(reason) = unmet {
                return self.set_stage(Stage::Unconfirmed { result, reason });
            }
        }
        match &planned.controls.verify {
            Some(_) => self.start_verification(planned, result),
            None => self.end_with_result(result),
        }
    }

    /// The step is done.
    pub(super) fn end_with_result(&mut self, result: ResultHandle) -> Decided {
        if result.has_event() {
            self.fresh_results.push(self.index);
        }
        self.set_stage(Stage::Done(result))
    }

    /// How a result differs from the schema that its tool announces, with or without the envelope around it. The calls of an agent
    /// are not checked: it reads their results itself.
    fn misfit(&mut self, planned: &PlannedStep, value: &Value) -> Option<String> {
        if self.policy().unfit_results == UnfitResults::Ignore || self.context.planning.plan.is_none() {
            return None;
        }
        let schema = self.result_schemas.get(planned)?;
        if schema.fits(value) {
            return None;
        }
        let problems = schema.problems(&response_data(value));
        (!problems.is_empty()).then(|| join_first(&problems))
    }
}

impl Started {
    /// The check that the configuration names for the call of a step.
    pub(super) fn check_of(&self, planned: &PlannedStep) -> Option<&OutcomeCheck> {
        self.policy.effects.check(planned.tool.as_str(), planned.capability.as_str())
    }
}

impl StepContext<'_> {
    /// Whether a condition about the result of a step holds, or why nobody knows.
    pub(super) fn holds(
        &self,
        planned: &PlannedStep,
        condition: &Expression,
        result: &Value,
        reply: Option<&Value>,
    ) -> Result<bool, String> {
        let results = Results { result: Some(result), reply, ..self.results(Some(planned)) };
        match condition.evaluate(&results).map(|evaluation| evaluation.value) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("`{condition}` is {}, not true or false", other.kind().with_article())),
            Err(reason) => Err(format!("`{condition}` has no value: {reason}")),
        }
    }
}

impl Reports<'_> {
    /// One sentence for each result that does not fit the schema that its tool announces.
    pub(super) fn notes_about_unfit_results(&self) -> Vec<String> {
        let doubts = self.known.steps_in_order().filter_map(|(planned, step)| {
            let misfit = step.misfit.as_ref()?;
            let is_done = matches!(step.stage(), Stage::Done(_));
            let text =
                format!("the result of {} does not fit the schema that its tool announces: {misfit}", planned.id);
            is_done.then(|| (self.known.loop_of(planned), text))
        });
        limit_items(doubts, |of, more| format!("{of}: the results of {more} more items do not fit their schema"))
    }
}
