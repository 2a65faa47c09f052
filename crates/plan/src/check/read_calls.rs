//! Checks that calls only read which are made again and again, or which verify another call.

use reknit_protocol::{Plan, SideEffect, Step};

use super::{Code, PlanLocation, PlanProblem};
use crate::StepIndex;
use crate::verify_call::verify_call;

/// The calls that must only read and do not: those of steps with `until`, and those of a `verify`. `side_effect` tells the class
/// of a step's call, as declared or configured; it is `None` for an unknown capability, which [`check`](super::check())
/// reports.
pub fn check_read_calls(plan: &Plan, side_effect: impl Fn(&Step) -> Option<SideEffect>) -> Vec<PlanProblem> {
    let mut problems = Vec::new();
    for (position, step) in plan.steps.iter().enumerate().filter(|(_, step)| !step.is_computed()) {
        let location = || PlanLocation::step(StepIndex::new(position), &step.step_id).key("metadata");
        if let Some(problem) =
            not_read(step, &side_effect).filter(|_| step.has_control("until") && step.agent_file().is_none())
        {
            let message = format!("`until`: {}, but it is called again and again", problem.message);
            problems.push(PlanProblem::new(Code::BadControl, location().key("until"), message).with_hint(problem.hint));
        }
        let call = verify_call(step);
        if let Some(problem) = call.and_then(|call| not_read(&call, &side_effect)) {
            let message = format!("`verify`: {}", problem.message);
            let location = location().key("verify").key("tool");
            problems.push(PlanProblem::new(Code::BadControl, location, message).with_hint(problem.hint));
        }
    }
    problems
}

/// Why a call does not only read.
struct NotRead {
    message: String,
    hint: Option<String>,
}

fn not_read(step: &Step, side_effect: impl Fn(&Step) -> Option<SideEffect>) -> Option<NotRead> {
    let class = side_effect(step).filter(|class| *class != SideEffect::Read)?;
    let capability = format!("{}/{}", step.tool, step.capability().unwrap_or_default());
    let hint =
        format!("call one that only reads, or declare it with `\"{capability}\" = \"read\"` in `[effects.classes]`");
    let message = format!("the side effect class of `{capability}` is `{}`, not `read`", class.as_str());
    Some(NotRead { message, hint: Some(hint) })
}
