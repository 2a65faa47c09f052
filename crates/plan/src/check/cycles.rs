//! Cycles of steps that depend on each other. Without a cycle the steps can be put in an order.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::parsed_plan::{Dependency, DependencyReason, ParsedPlan};
use super::{Code, PlanLocation, PlanProblem};
use crate::StepIndex;

/// One problem for each cycle. No step is in two of them.
pub(super) fn find(parsed: &ParsedPlan<'_>) -> Vec<PlanProblem> {
    let mut blocked = BlockedSteps::new(parsed);
    let mut problems = Vec::new();
    while let Some(first) = blocked.first() {
        let cycle = follow_dependencies(parsed, first, &blocked);
        problems.push(problem(parsed, &cycle));
        blocked.remove(cycle);
    }
    problems
}

/// The steps that are in a cycle or depend, directly or not, on a step in one.
struct BlockedSteps {
    /// How many dependencies of each blocked step are blocked too.
    blocked_dependencies: BTreeMap<StepIndex, usize>,
    dependents: Vec<Vec<StepIndex>>,
}

impl BlockedSteps {
    fn new(parsed: &ParsedPlan<'_>) -> Self {
        let mut dependents = vec![Vec::new(); parsed.plan().steps.len()];
        let mut blocked_dependencies = BTreeMap::new();
        for index in parsed.indices() {
            let dependencies = parsed.dependencies(index);
            blocked_dependencies.insert(index, dependencies.len());
            for dependency in dependencies {
                if let Some(list) = dependents.get_mut(dependency.index.get()) {
                    list.push(index);
                }
            }
        }
        let free = blocked_dependencies.iter().filter(|(_, count)| **count == 0).map(|(index, _)| *index).collect();
        let mut blocked = Self { blocked_dependencies, dependents };
        blocked.remove(free);
        blocked
    }

    fn first(&self) -> Option<StepIndex> {
        self.blocked_dependencies.first_key_value().map(|(index, _)| *index)
    }

    fn contains(&self, index: StepIndex) -> bool {
        self.blocked_dependencies.contains_key(&index)
    }

    /// Removes steps, and those that are no longer blocked then.
    fn remove(&mut self, mut steps: Vec<StepIndex>) {
        while let Some(index) = steps.pop() {
            if self.blocked_dependencies.remove(&index).is_none() {
                continue;
            }
            for dependent in self.dependents.get(index.get()).into_iter().flatten() {
                if let Some(count) = self.blocked_dependencies.get_mut(dependent) {
                    *count -= 1;
                    if *count == 0 {
                        steps.push(*dependent);
                    }
                }
            }
        }
    }
}

/// The dependency of a step that comes first in the plan, of those that `among` accepts. The order of the plan decides, so
/// that the reported cycle does not depend on the order of parameters.
fn first_dependency<'o>(
    parsed: &'o ParsedPlan<'_>,
    index: StepIndex,
    among: impl Fn(StepIndex) -> bool,
) -> Option<&'o Dependency> {
    let dependencies = parsed.dependencies(index).iter();
    dependencies.filter(|dependency| among(dependency.index)).min_by_key(|dependency| dependency.index)
}

/// Every blocked step depends on another blocked step, so following dependencies leads into a cycle.
fn follow_dependencies(parsed: &ParsedPlan<'_>, first: StepIndex, blocked: &BlockedSteps) -> Vec<StepIndex> {
    let (mut path, mut seen) = (Vec::new(), HashMap::new());
    let mut next = Some(first);
    while let Some(index) = next {
        if let Some(start) = seen.insert(index, path.len()) {
            return path.split_off(start);
        }
        path.push(index);
        next = first_dependency(parsed, index, |other| blocked.contains(other)).map(|dependency| dependency.index);
    }
    path
}

fn problem(parsed: &ParsedPlan<'_>, cycle: &[StepIndex]) -> PlanProblem {
    let members: HashSet<StepIndex> = cycle.iter().copied().collect();
    let describe = |index: &StepIndex| {
        let dependency = first_dependency(parsed, *index, |other| members.contains(&other))?;
        let verb = match dependency.reason {
            DependencyReason::Declared => "runs after",
            DependencyReason::Reference => "reads from",
        };
        Some(format!("`{}` {verb} `{}`", parsed.id(*index)?, parsed.id(dependency.index)?))
    };
    let links: Vec<String> = cycle.iter().filter_map(describe).collect();
    let message = format!("these steps wait for each other: {}", links.join(", "));
    PlanProblem::new(Code::Cycle, PlanLocation::plan().key("steps"), message)
}
