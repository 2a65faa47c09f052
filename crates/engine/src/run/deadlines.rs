//! How long a step may take. There is no timer for it: nothing that a step does may last beyond its time, and nothing of it
//! begins after that.

use super::Run;
use super::state::Stage;
use super::steps::StepRun;
use reknit_mend::Fault;
use reknit_plan::Planned;

impl Run {
    /// The inputs of a step are there: its time begins.
    pub(super) fn start_time_of(&mut self, index: usize, planned: &Planned) {
        let limit_ms = planned.limit_ms.or(self.policy().limits.step_ms);
        let now_ms = self.state.now_ms;
        if let Some(step) = self.state.steps.get_mut(index) {
            step.deadline_ms = limit_ms.map(|ms| now_ms.saturating_add_unsigned(ms));
        }
    }

    /// The longest that a call of a step may take: never longer than what is left to the step and to the run.
    pub(super) fn call_limit_ms(&self, step: &StepRun) -> u64 {
        let limits = &self.policy().limits;
        let now_ms = self.state.now_ms;
        let run_left = limits.active_ms.saturating_sub(self.state.clock.active_ms(now_ms));
        let step_left = step.deadline_ms.map_or(u64::MAX, |deadline| left_ms(deadline, now_ms));
        limits.call_ms.min(run_left).min(step_left).max(1)
    }

    /// Why nothing more is done for a step at that moment, if its time is over by then.
    pub(super) fn too_late(&self, index: usize, at_ms: i64) -> Option<String> {
        let deadline = self.state.steps.get(index)?.deadline_ms.filter(|deadline| at_ms >= *deadline)?;
        let limit_ms = self.plan.steps.get(index)?.limit_ms.or(self.policy().limits.step_ms)?;
        Some(if self.state.now_ms >= deadline {
            format!("the limit of {limit_ms} ms for the step is reached")
        } else {
            format!("what comes next would be behind its limit of {limit_ms} ms")
        })
    }

    /// A step ends with what it came to, for its time is over.
    pub(super) fn fail_late(&mut self, index: usize, reason: String, fault: Option<Fault>) {
        let last = self.state.steps.get(index).and_then(|step| step.attempts.last()?.fault.clone());
        self.set_stage(index, Stage::Failed { reason, fault: fault.or(last).map(Box::new) });
    }

    /// The time in which nobody drove the run is given back to all steps that are under way.
    pub(super) fn put_deadlines_off(&mut self, ms: i64) {
        for step in self.state.steps.iter_mut() {
            // Who waits for a person gets back all of that time, when the person has decided.
            if !matches!(step.stage(), Stage::Deciding { .. }) {
                step.put_deadline_off(ms);
                if let Some(question) = step.question_mut() {
                    question.put_deadline_off(ms);
                }
            }
        }
    }
}

impl StepRun {
    pub(super) fn put_deadline_off(&mut self, ms: i64) {
        self.deadline_ms = self.deadline_ms.map(|deadline| deadline.saturating_add(ms));
    }
}

fn left_ms(deadline_ms: i64, now_ms: i64) -> u64 {
    u64::try_from(deadline_ms.saturating_sub(now_ms)).unwrap_or(0)
}
