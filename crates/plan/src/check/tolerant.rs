//! Accepts a plan whose problems are each about one step only.
//!
//! A literal that does not fit its schema, or a missing parameter, makes its own step fail, or a model mends it. A parameter
//! that the tool does not have can be left out of a call that only reads, and so can a step with an unknown tool that no other
//! step needs. None of them should stop the other steps when no better plan can be had. A call that changes something is not
//! made without a parameter such as `dry_run`: its step is mended or fails.

use reknit_protocol::{Plan, Segment, Step, StepId};

use super::{Code, PlanAuthor, PlanProblem, check_parts};
use crate::CheckedPlan;
use crate::catalogue::Catalogue;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemScope {
    /// A literal of this step does not fit its schema, or a required parameter is missing. The step can still be mended, or
    /// fail on its own.
    Step(StepId),
    /// The capability of this step does not have a parameter, which can be left out of a call that only reads.
    UnknownParameter(StepId),
    UnknownTool(StepId),
    Plan,
}

#[derive(Debug, Clone)]
pub struct TolerablePlan {
    /// The plan without the steps that were left out.
    pub plan: Plan,
    pub checked: CheckedPlan,
    /// Literals that do not fit their schema, and parameters that are missing or unknown.
    pub kept: Vec<PlanProblem>,
    /// Why parameters were left out, one problem for each.
    pub left_out: Vec<PlanProblem>,
    /// The steps that were left out, each with the problem that is the reason.
    pub dropped: Vec<(Step, PlanProblem)>,
}

impl PlanProblem {
    pub fn scope(&self) -> ProblemScope {
        match (self.code, &self.location.step) {
            (Code::BadValue | Code::MissingParameter, Some(step)) => ProblemScope::Step(step.clone()),
            (Code::UnknownParameter, Some(step)) => ProblemScope::UnknownParameter(step.clone()),
            (Code::UnknownTool | Code::UnknownCapability, Some(step)) => ProblemScope::UnknownTool(step.clone()),
            _ => ProblemScope::Plan,
        }
    }
}

/// Checks a plan like [`check`](super::check()), and accepts it if each problem is about the parameters of one step, or about
/// the tool of a step that no other step and no output needs. At least one step must remain. Fails with all problems.
/// `only_reads` tells for a step whether its call changes nothing.
pub fn check_tolerantly(
    plan: &Plan,
    catalogue: &Catalogue,
    author: PlanAuthor,
    only_reads: impl Fn(&Step) -> bool,
) -> Result<TolerablePlan, Vec<PlanProblem>> {
    let (_, problems) = check_parts(plan, catalogue, author)?;
    let mut kept = plan.clone();
    let (mut dropped, mut left_out) = (Vec::new(), Vec::new());
    for problem in &problems {
        match problem.scope() {
            ProblemScope::UnknownTool(id) => {
                if let Some(at) = kept.steps.iter().position(|step| step.step_id == id) {
                    dropped.push((kept.steps.remove(at), problem.clone()));
                }
            }
            ProblemScope::UnknownParameter(id) => {
                let step = kept.steps.iter_mut().find(|step| step.step_id == id);
                if step.is_some_and(|step| only_reads(step) && leave_out(step, problem)) {
                    left_out.push(problem.clone());
                }
            }
            ProblemScope::Step(_) | ProblemScope::Plan => {}
        }
    }
    // A problem of the whole plan stays one, and a step that needs a dropped one gets one here.
    let (checked, rest) = check_parts(&kept, catalogue, author)?;
    let is_of_step =
        |problem: &PlanProblem| matches!(problem.scope(), ProblemScope::Step(_) | ProblemScope::UnknownParameter(_));
    let is_tolerable = rest.iter().all(is_of_step);
    match checked {
        Some(checked) if is_tolerable && !kept.steps.is_empty() => {
            Ok(TolerablePlan { plan: kept, checked, kept: rest, left_out, dropped })
        }
        _ => Err(problems),
    }
}

/// Removes the parameter that a problem is about; returns whether it was there.
fn leave_out(step: &mut Step, problem: &PlanProblem) -> bool {
    let Some(Segment::Key(name)) = problem.location.path.segments().last() else { return false };
    let Some(mut parameters) = step.parameters().cloned() else { return false };
    let was_there = parameters.remove(name).is_some();
    step.metadata.insert("parameters", parameters);
    was_there
}
