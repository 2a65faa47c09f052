//! Checks that calls which are made again and again only read.

use reknit_protocol::{Plan, SideEffect, Step};

use super::{Code, PlanLocation, PlanProblem};
use crate::StepIndex;

/// The steps that call a capability with `until` although it does not only read. `side_effect` tells the class of a step's
/// call, as declared or configured; it is `None` for an unknown capability, which [`check`](super::check()) reports.
pub fn check_read_calls(plan: &Plan, side_effect: impl Fn(&Step) -> Option<SideEffect>) -> Vec<PlanProblem> {
    let steps = plan.steps.iter().enumerate().filter(|(_, step)| step.has_until() && !step.is_computed());
    let problem = |(position, step): (usize, &Step)| {
        let class = side_effect(step).filter(|class| *class != SideEffect::Read)?;
        let capability = format!("{}/{}", step.agent_name, step.capability().unwrap_or_default());
        let message = format!(
            "`until`: the side effect class of `{capability}` is `{}`, not `read`, but it is called again and again",
            class.as_str()
        );
        let hint = format!(
            "call one that only reads, or declare it with `\"{capability}\" = \"read\"` in `[effects.classes]`"
        );
        let location = PlanLocation::step(StepIndex::new(position), &step.step_id).key("metadata").key("until");
        Some(PlanProblem::new(Code::BadControl, location, message).with_hint(Some(hint)))
    };
    steps.filter_map(problem).collect()
}
