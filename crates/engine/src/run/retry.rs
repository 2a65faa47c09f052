//! A run that ended without all of its results is retried: done steps stay done, failed and skipped ones get new budgets.

use std::sync::Arc;

use reknit_mend::CallFault;
use reknit_plan::StepIndex;
use reknit_protocol::SideEffect;

use super::state::{Phase, PlanApproval, Stage};
use super::{Run, planned};
use crate::answer::Status;
use crate::internal_error::Decided;
use crate::record::RunRecord;

/// What is done with a failed or skipped step.
enum Reopening {
    /// Nothing of it took effect: it starts again with its parameters.
    Start,
    /// Its call may have taken effect, and may be sent again: unchanged, under the same key.
    SendAgain,
    /// Its call may have taken effect, and only a check or a person may decide that it is sent again.
    AskAboutOutcome(Arc<CallFault>),
}

impl Run {
    /// Whether a retry would do anything: the run failed, or ended without some of its results, or reached a limit.
    pub fn can_be_retried(&self) -> bool {
        let Phase::Ended(answer) = &self.state.phase else { return false };
        let has_rest = match &self.state.plan {
            Some(_) => self.state.steps.iter().any(|step| !matches!(step.stage(), Stage::Done(_))),
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
        self.renew_limits();
        let reopened = self.reopenings()?;
        self.record(RunRecord::Retried {
            times: self.state.retries,
            request: self.started.request.clone(),
            has_plan: self.started.plan.is_some(),
            metadata: self.started.metadata.clone(),
            steps: reopened.len(),
        });
        self.state.phase = Phase::Running;
        if self.state.plan.is_none() {
            self.state.choice = None;
            return self.begin_planning();
        }
        let plan = Arc::clone(&self.plan);
        let waiting = reopened.iter().map(|(index, _)| (*index, Stage::Waiting)).collect();
        self.state.steps.reopen(waiting, &plan)?;
        for (index, reopening) in reopened {
            self.state.steps.get_mut(index)?.renew_budgets();
            let planned = planned(&plan, index)?;
            match reopening {
                Reopening::Start => continue,
                // It waits for a place among the items of its loop.
                Reopening::SendAgain if planned.item.is_some() => {
                    self.state.steps.get_mut(index)?.sends_again = true;
                    continue;
                }
                Reopening::SendAgain | Reopening::AskAboutOutcome(_) => {}
            }
            self.record_start(planned);
            self.start_step_deadline(index, planned)?;
            match reopening {
                Reopening::Start => {}
                Reopening::SendAgain => self.set_stage(index, Stage::Queued)?,
                Reopening::AskAboutOutcome(fault) => self.ask_about_outcome(index, fault)?,
            }
        }
        if self.state.plan_approval != PlanApproval::Approved {
            self.ask_about_plan()?;
        }
        Ok(())
    }

    /// The limits of the run count anew. What was spent stays in its sum.
    fn renew_limits(&mut self) {
        let state = &mut self.state;
        state.retries += 1;
        let mut spent = std::mem::take(&mut state.spent);
        spent.active_ms = state.clock.active_ms(state.now_ms);
        state.spent_before.add(&spent);
        state.clock.restart();
        (state.stop, state.stopped_ms, state.resumed) = (None, None, None);
        state.refused.clear();
        state.repeated_failures.clear();
    }

    /// Whether the items of a step are all done, if it has any. Otherwise its result is not complete.
    fn has_done_items(&self, index: StepIndex) -> Decided<bool> {
        for item in self.state.steps.items(index).indices() {
            if !matches!(self.state.steps.get(*item)?.stage(), Stage::Done(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The steps that are not done, and how each goes on.
    fn reopenings(&self) -> Decided<Vec<(StepIndex, Reopening)>> {
        let mut reopened = Vec::new();
        for index in self.plan.indices() {
            let step = self.state.steps.get(index)?;
            let fault = match step.stage() {
                Stage::Done(_) if self.has_done_items(index)? => continue,
                Stage::Failed { fault, .. } => fault.clone().or_else(|| step.last_fault().cloned()),
                _ => step.last_fault().cloned(),
            };
            let class = self.side_effect(planned(&self.plan, index)?);
            let reopening = if !step.may_have_happened(class, fault.as_deref()) {
                Reopening::Start
            } else if class == SideEffect::Unsafe {
                Reopening::AskAboutOutcome(fault.unwrap_or_else(|| Arc::new(CallFault::interrupted())))
            } else {
                Reopening::SendAgain
            };
            reopened.push((index, reopening));
        }
        Ok(reopened)
    }
}
