//! Whether mending gets anywhere. What fails again and again in the same way at the same tool, although models were asked
//! each time, is not asked about any more: they see no more than they saw before.

use super::Run;
use super::state::Stage;
use super::steps::StepRun;
use reknit_mend::Fault;
use reknit_mend::Used;
use reknit_plan::Planned;

impl Run {
    /// What a step has used up, and how many others failed in the same way.
    pub(super) fn used(&self, step: &StepRun, planned: &Planned, fault: &Fault) -> Used {
        let fruitless = self.state.fruitless.get(&way(planned, fault)).copied().unwrap_or_default();
        Used { fruitless, ..step.used(fault, planned, self.class(planned)) }
    }

    /// A step comes to another stage: if it is over, what models have said about it has helped or not.
    pub(super) fn note_progress(&mut self, index: usize, stage: &Stage) {
        let (Some(planned), Some(step)) = (self.plan.steps.get(index), self.state.steps.get(index)) else { return };
        if step.feedback == 0 && step.context == 0 {
            return;
        }
        match stage {
            Stage::Done(_) => {
                let tool = tool(planned);
                self.state.fruitless.retain(|way, _| !way.starts_with(&tool));
            }
            Stage::Failed { fault: Some(fault), .. } => {
                *self.state.fruitless.entry(way(planned, fault)).or_default() += 1;
            }
            _ => {}
        }
    }
}

fn tool(planned: &Planned) -> String {
    format!("{}/{} ", planned.agent, planned.capability)
}

/// At which tool, and how.
fn way(planned: &Planned, fault: &Fault) -> String {
    format!("{}{} {}", tool(planned), fault.status().unwrap_or(0), fault.code)
}
