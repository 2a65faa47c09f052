//! The time of a run, and how much of it is left.

use reknit_plan::PlannedStep;

use super::state::{ActiveClock, State};
use super::step_run::StepRun;
use crate::policy::Limits;
use crate::times::ms_between;

/// The time of the event that is being applied, and the limits that it counts towards.
#[derive(Clone, Copy)]
pub(super) struct RunClock<'a> {
    pub(super) limits: &'a Limits,
    pub(super) active: &'a ActiveClock,
    pub(super) now_ms: i64,
}

impl State {
    pub(super) fn run_clock<'a>(&'a self, limits: &'a Limits) -> RunClock<'a> {
        RunClock { limits, active: &self.clock, now_ms: self.now_ms }
    }
}

impl RunClock<'_> {
    /// The active time that is left to the run; `None` if it has no limit.
    pub(super) fn active_ms_left(self) -> Option<u64> {
        Some(self.limits.active_ms?.saturating_sub(self.active.active_ms(self.now_ms)))
    }

    /// The timeout of a step's next call: never longer than the time left to the step and to the run.
    pub(super) fn call_timeout_ms(self, step: &StepRun) -> u64 {
        let run_left = self.active_ms_left().unwrap_or(u64::MAX);
        let step_left = step.deadline_ms.map_or(u64::MAX, |deadline| ms_between(self.now_ms, deadline));
        self.limits.call_ms.min(run_left).min(step_left).max(1)
    }

    /// Why nothing more is done for a step at `at_ms`, if its deadline has passed by then.
    pub(super) fn too_late(self, planned: &PlannedStep, step: &StepRun, at_ms: i64) -> Option<String> {
        let deadline = step.deadline_ms.filter(|deadline| at_ms >= *deadline)?;
        let limit_ms = self.step_limit_ms(planned)?;
        Some(if self.now_ms >= deadline {
            format!("the time limit of {limit_ms} ms for the step is reached")
        } else {
            format!("the next attempt would start after the step's time limit of {limit_ms} ms")
        })
    }

    /// When the time of a step that starts now is over.
    pub(super) fn step_deadline_ms(self, planned: &PlannedStep) -> Option<i64> {
        self.step_limit_ms(planned).map(|ms| self.now_ms.saturating_add_unsigned(ms))
    }

    /// When a question to a person that is asked now expires.
    pub(super) fn question_expires_ms(self) -> i64 {
        self.now_ms.saturating_add_unsigned(self.limits.person_ms)
    }

    fn step_limit_ms(self, planned: &PlannedStep) -> Option<u64> {
        planned.limit_ms.or(self.limits.step_ms)
    }
}
