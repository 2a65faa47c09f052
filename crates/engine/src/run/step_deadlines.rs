//! The time limit of a step. There is no timer: nothing that a step does may last beyond its deadline, and nothing starts
//! after it.

use std::sync::Arc;

use reknit_mend::CallFault;
use reknit_plan::{PlannedStep, StepIndex};

use super::state::Stage;
use super::steps::StepRun;
use super::{Run, planned};
use crate::internal_error::Decided;
use crate::times::ms_between;

impl Run {
    /// Starts the time of a step: its dependencies are done.
    pub(super) fn start_step_deadline(&mut self, index: StepIndex, planned: &PlannedStep) -> Decided {
        let limit_ms = planned.limit_ms.or(self.policy().limits.step_ms);
        let now_ms = self.state.now_ms;
        self.state.steps.get_mut(index)?.deadline_ms = limit_ms.map(|ms| now_ms.saturating_add_unsigned(ms));
        Ok(())
    }

    /// The timeout of a step's next call: never longer than the time left to the step and to the run.
    pub(super) fn call_timeout_ms(&self, step: &StepRun) -> u64 {
        let limits = &self.policy().limits;
        let now_ms = self.state.now_ms;
        let run_left = self.active_ms_left().unwrap_or(u64::MAX);
        let step_left = step.deadline_ms.map_or(u64::MAX, |deadline| ms_between(now_ms, deadline));
        limits.call_ms.min(run_left).min(step_left).max(1)
    }

    /// The active time that is left to the run; `None` if it has no limit.
    pub(super) fn active_ms_left(&self) -> Option<u64> {
        Some(self.policy().limits.active_ms?.saturating_sub(self.state.clock.active_ms(self.state.now_ms)))
    }

    /// Why nothing more is done for a step at `at_ms`, if its deadline has passed by then.
    pub(super) fn too_late(&self, index: StepIndex, at_ms: i64) -> Decided<Option<String>> {
        let deadline = self.state.steps.get(index)?.deadline_ms.filter(|deadline| at_ms >= *deadline);
        let limit_ms = planned(&self.plan, index)?.limit_ms.or(self.policy().limits.step_ms);
        Ok(deadline.zip(limit_ms).map(|(deadline, limit_ms)| {
            if self.state.now_ms >= deadline {
                format!("the time limit of {limit_ms} ms for the step is reached")
            } else {
                format!("the next attempt would start after the step's time limit of {limit_ms} ms")
            }
        }))
    }

    /// Fails a step whose deadline has passed.
    pub(super) fn fail_late(&mut self, index: StepIndex, reason: String, fault: Option<Arc<CallFault>>) -> Decided {
        let fault = fault.or_else(|| self.state.steps.get(index).ok()?.last_fault().cloned());
        self.set_stage(index, Stage::Failed { reason, fault })
    }

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

impl StepRun {
    pub(super) fn extend_deadline(&mut self, ms: i64) {
        self.deadline_ms = self.deadline_ms.map(|deadline| deadline.saturating_add(ms));
    }
}
