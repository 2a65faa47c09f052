//! The progress guard: when steps keep failing in the same way at the same tool although models were asked each time, models
//! are not asked again. They would see what they saw before.

use reknit_mend::{CallFault, RepairState};
use reknit_plan::{PlannedStep, StepIndex};

use super::state::Stage;
use super::steps::StepRun;
use super::{Run, planned};
use crate::internal_error::Decided;

impl Run {
    /// What a step has used up, and how many others failed in the same way.
    pub(super) fn repair_state(&self, step: &StepRun, planned: &PlannedStep, fault: &CallFault) -> RepairState {
        let similar_failures =
            self.state.repeated_failures.get(&failure_key(planned, fault)).copied().unwrap_or_default();
        RepairState { similar_failures, ..step.repair_state(fault, planned, self.side_effect(planned)) }
    }

    /// Counts a step that ends in failure although models were asked; a success resets the counts of its tool.
    pub(super) fn note_repeated_failure(&mut self, index: StepIndex, stage: &Stage) -> Decided {
        let step = self.state.steps.get(index)?;
        if step.feedback == 0 && step.context == 0 {
            return Ok(());
        }
        let planned = planned(&self.plan, index)?;
        match stage {
            Stage::Done(_) => {
                let tool = tool_prefix(planned);
                self.state.repeated_failures.retain(|key, _| !key.starts_with(&tool));
            }
            Stage::Failed { fault: Some(fault), .. } => {
                *self.state.repeated_failures.entry(failure_key(planned, fault)).or_default() += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

fn tool_prefix(planned: &PlannedStep) -> String {
    format!("{}/{} ", planned.tool, planned.capability)
}

/// Identifies a way of failing: tool, status and code.
fn failure_key(planned: &PlannedStep, fault: &CallFault) -> String {
    format!("{}{} {}", tool_prefix(planned), fault.status().unwrap_or(0), fault.code)
}
