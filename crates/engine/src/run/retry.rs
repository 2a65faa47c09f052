//! A run goes on. After another process took it over, work that was not claimed is done again, and paid for again. A run that
//! ended without all of its results is retried: done steps stay done, failed and skipped ones get new budgets.

use std::sync::Arc;

use reknit_mend::CallFault;
use reknit_model_api::Money;
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::SideEffect;

use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::knowledge::StepContext;
use super::stage::Stage;
use super::state::{PaidAgain, Phase, PlanApproval, State};
use super::step_run::{Reopened, StepRun};
use super::{Run, planned};
use crate::answer::Status;
use crate::event::Started;
use crate::internal_error::Decided;
use crate::record::RunRecord;

impl Run {
    pub(super) fn on_resumed(&mut self, last_ms: i64) -> Decided {
        let now_ms = self.state.now_ms;
        let before = self.state.account.spent.tool_calls;
        self.record(RunRecord::Resumed);
        self.state.clock.resume(last_ms, now_ms);
        self.extend_deadlines(now_ms.saturating_sub(last_ms));
        match self.state.phase.question() {
            Some((topic, question)) if question.is_asking() => self.ask(topic)?,
            None if matches!(self.state.phase, Phase::Running) => {
                for index in self.plan.indices() {
                    self.at(index).pay_again()?;
                }
            }
            _ => {}
        }
        let tool_calls = self.state.account.spent.tool_calls.saturating_sub(before);
        self.state.account.resumed = Some(PaidAgain { event: self.state.events, at_ms: now_ms, tool_calls });
        Ok(())
    }

    /// Whether a retry would do anything: the run failed, or ended without some of its results, or reached a limit.
    pub fn can_be_retried(&self) -> bool {
        let Phase::Ended(answer) = &self.state.phase else { return false };
        let has_rest = match &self.state.planning.plan {
            Some(_) => {
                let mut steps = self.plan.steps.iter().zip(self.state.steps.iter());
                steps.any(|(planned, step)| self.known().can_go_on(planned, step))
            }
            // No model wrote a plan.
            None => self.started.plan.is_none(),
        };
        matches!(answer.status, Status::Partial | Status::Failed | Status::BudgetExhausted) && has_rest
    }

    /// How often the run was retried.
    pub fn retries(&self) -> u32 {
        self.state.retries
    }

    pub(super) fn on_retried(&mut self) -> Decided {
        self.state.renew_limits();
        let reopened = self.known().reopenings()?;
        self.record(RunRecord::Retried {
            times: self.state.retries,
            request: self.started.request.clone(),
            has_plan: self.started.plan.is_some(),
            metadata: self.started.metadata.clone(),
            steps: reopened.len(),
        });
        self.state.phase = Phase::Running;
        if self.state.planning.plan.is_none() {
            self.state.planning.choice = None;
            return self.begin_planning();
        }
        let plan = Arc::clone(&self.plan);
        let waiting = reopened.iter().map(|(index, _)| (*index, Stage::Waiting)).collect();
        self.state.steps.reopen(waiting, &plan)?;
        for (index, reopened) in reopened {
            self.state.steps.get_mut(index)?.renew_budgets();
            let planned = planned(&plan, index)?;
            let Some(reopened) = reopened else { continue };
            // It waits for a place among the items of its loop.
            if planned.item.is_some() {
                self.state.steps.get_mut(index)?.reopened = Some(Box::new(reopened));
                continue;
            }
            self.at(index).record_start(planned);
            self.at(index).start_step_deadline(planned)?;
            self.at(index).continue_reopened(reopened)?;
        }
        if self.state.planning.approval != PlanApproval::Approved {
            self.ask_about_plan()?;
        }
        Ok(())
    }
}

impl CallControl<'_> {
    /// Goes on with a step that does not start again with its parameters.
    pub(super) fn continue_reopened(&mut self, reopened: Reopened) -> Decided {
        match reopened {
            Reopened::SendAgain => self.set_stage(Stage::Queued),
            Reopened::AskAboutOutcome(fault) => self.ask_about_outcome(fault),
            Reopened::Verify(result) => self.queue_verification(result),
        }
    }
}

impl CallRepair<'_> {
    /// Pays for what is asked for again.
    fn pay_again(&mut self) -> Decided {
        match self.step()?.stage() {
            // Only calls that need no claim are made again here. The driver reports claimed calls as `Interrupted`.
            Stage::Calling(call) if !call.needs_claim() => {
                let call = call.share();
                match self.charge_tool_call() {
                    Ok(()) => self.record(RunRecord::CallStarted(call)),
                    Err(exhausted) => {
                        let reason = exhausted.to_string();
                        self.account.stop_for(exhausted);
                        self.set_stage(Stage::Failed { reason, fault: None })?;
                    }
                }
            }
            Stage::Consulting { rung, consultation, .. } if consultation.is_asking() => self.ask(*rung)?,
            _ => {}
        }
        Ok(())
    }
}

impl State {
    /// Refunds calls that were paid for again at this very moment, with no event between: they were never started.
    pub(super) fn refund_resumed_calls(&mut self) {
        let Some(paid) = self.account.resumed.take() else { return };
        if paid.at_ms == self.now_ms && paid.event + 1 == self.events {
            (0..paid.tool_calls).for_each(|_| self.account.spent.refund_tool_call());
        }
    }

    /// The limits count anew. What was spent stays in its sum.
    fn renew_limits(&mut self) {
        self.retries += 1;
        let mut spent = std::mem::take(&mut self.account.spent);
        spent.active_ms = self.clock.active_ms(self.now_ms);
        spent.reserved_cost = Money::default();
        self.account.spent_before.add(&spent);
        self.clock.restart();
        (self.account.stop, self.account.stopped_ms, self.account.resumed) = (None, None, None);
        self.ruled_out.models.clear();
        self.ruled_out.failures.clear();
    }
}

impl Started {
    /// Whether a retry would do anything about a step. A call that was made is not made again to get another result.
    fn can_go_on(&self, planned: &PlannedStep, step: &StepRun) -> bool {
        match step.stage() {
            Stage::Done(_) => false,
            _ if step.replaced => false,
            Stage::Unconfirmed { .. } => {
                self.side_effect(planned) == SideEffect::Read || planned.controls.verify.is_some()
            }
            _ => true,
        }
    }
}

impl StepContext<'_> {
    /// Whether the items of a step are all done, if it has any. Otherwise its result is not complete.
    fn has_done_items(&self, index: StepIndex) -> Decided<bool> {
        for item in &self.steps.items(index).indices {
            if !matches!(self.steps.get(*item)?.stage(), Stage::Done(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The steps that are not done, and how each goes on.
    fn reopenings(&self) -> Decided<Vec<(StepIndex, Option<Reopened>)>> {
        let mut reopened = Vec::new();
        for index in self.plan.indices() {
            let (planned, step) = (planned(self.plan, index)?, self.steps.get(index)?);
            let class = self.side_effect(planned);
            let fault = match step.stage() {
                Stage::Done(_) if self.has_done_items(index)? => continue,
                _ if step.replaced => continue,
                Stage::Unconfirmed { .. } if !self.can_go_on(planned, step) => continue,
                Stage::Unconfirmed { result, .. } if class != SideEffect::Read => {
                    reopened.push((index, Some(Reopened::Verify(result.clone()))));
                    continue;
                }
                Stage::Failed { fault, .. } => fault.clone().or_else(|| step.last_fault().cloned()),
                _ => step.last_fault().cloned(),
            };
            let going_on = if !step.may_have_happened(class, fault.as_deref()) {
                None
            } else if class.needs_approval_to_resend() {
                Some(Reopened::AskAboutOutcome(fault.unwrap_or_else(|| Arc::new(CallFault::interrupted()))))
            } else {
                Some(Reopened::SendAgain)
            };
            reopened.push((index, going_on));
        }
        Ok(reopened)
    }
}
