//! Accepts a plan whose problems are each about one step only.
//!
//! A literal that does not fit its schema makes its own step fail, or a model mends it. A step with an unknown tool that no
//! other step needs can be left out. Neither should stop the other steps when no better plan can be had.

use std::collections::HashSet;

use reknit_protocol::{Plan, StepId};

use super::{Code, PlanAuthor, PlanProblem, check_parts, in_order};
use crate::CheckedPlan;
use crate::catalogue::Catalogue;

/// How much of a plan a problem concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemScope {
    /// A literal of this step does not fit its schema. The step can still be mended, or fail on its own.
    Literal(StepId),
    /// This step calls a tool that does not exist.
    UnknownTool(StepId),
    /// The plan cannot run.
    Plan,
}

/// A plan that can run although it has problems.
#[derive(Debug, Clone)]
pub struct TolerablePlan {
    /// The plan without the steps that were left out.
    pub plan: Plan,
    /// The same, checked.
    pub checked: CheckedPlan,
    /// Literals that do not fit their schema.
    pub literals: Vec<PlanProblem>,
    /// Why steps were left out, one problem for each.
    pub dropped: Vec<PlanProblem>,
}

impl PlanProblem {
    /// How much of the plan the problem concerns.
    pub fn scope(&self) -> ProblemScope {
        match (self.code, &self.location.step) {
            (Code::BadValue, Some(step)) => ProblemScope::Literal(step.clone()),
            (Code::UnknownTool | Code::UnknownCapability, Some(step)) => ProblemScope::UnknownTool(step.clone()),
            _ => ProblemScope::Plan,
        }
    }
}

/// Checks a plan like [`check`](super::check()), and accepts it if each problem is about a literal of one step, or about the
/// tool of a step that no other step and no output needs. At least one step must remain. Fails with all problems.
pub fn check_tolerantly(
    plan: &Plan,
    catalogue: &Catalogue,
    author: PlanAuthor,
) -> Result<TolerablePlan, Vec<PlanProblem>> {
    let (_, problems) = check_parts(plan, catalogue, author)?;
    let (dropped, literals): (Vec<PlanProblem>, Vec<PlanProblem>) =
        problems.into_iter().partition(|problem| matches!(problem.scope(), ProblemScope::UnknownTool(_)));
    let without: HashSet<StepId> = dropped.iter().filter_map(|problem| problem.location.step.clone()).collect();
    let mut kept = plan.clone();
    kept.steps.retain(|step| !without.contains(&step.step_id));
    // A problem of the whole plan stays one, and a step that needs a dropped one gets one here.
    let (checked, rest) = check_parts(&kept, catalogue, author)?;
    let is_tolerable = rest.iter().all(|problem| matches!(problem.scope(), ProblemScope::Literal(_)));
    match checked {
        Some(checked) if is_tolerable && !kept.steps.is_empty() => {
            Ok(TolerablePlan { plan: kept, checked, literals: rest, dropped })
        }
        _ => Err(in_order(literals.into_iter().chain(dropped).collect())),
    }
}
