//! Checks a plan before anything runs, and reports all problems at once.

mod capability;
mod cycles;
mod notes;
mod parameters;
mod parsed_plan;
mod references;

use reknit_bind::Reference;
use reknit_protocol::Plan;

use super::problem::{PlanLocation, PlanProblem, ProblemCode as Code};
use super::{CheckedPlan, PlannedStep, inputs};
use crate::catalogue::{Catalogue, CatalogueEntry};
pub use notes::{PlanNote, plan_notes};
use parsed_plan::ParsedPlan;
use references::References;

/// The most steps of a plan. Hardly any budget pays for more.
const MAX_STEPS: usize = 10_000;

/// Who wrote a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanAuthor {
    /// A person, who may call every capability.
    Person,
    /// A model, which may only call the capabilities that it was shown.
    Model,
}

/// Checks a plan against the tools of the catalogue. Problems are in the order of the plan, those of the whole plan last.
pub fn check(plan: &Plan, catalogue: &Catalogue, author: PlanAuthor) -> Result<CheckedPlan, Vec<PlanProblem>> {
    let (parsed, mut problems) = ParsedPlan::parse(plan)?;
    let find = |(location, step, _)| capability::find(step, location, catalogue, author);
    let found: Vec<Result<&CatalogueEntry, PlanProblem>> = parsed.steps().map(find).collect();
    let entries: Vec<Option<&CatalogueEntry>> = found.iter().map(|entry| entry.as_ref().ok().copied()).collect();
    problems.extend(found.into_iter().filter_map(Result::err));
    problems.extend(find_problems(&parsed, &entries));
    if problems.is_empty() { Ok(checked_plan(&parsed, &entries)) } else { Err(in_order(problems)) }
}

/// Checks what can be checked without a catalogue: ids, dependencies, templates and inputs.
pub fn check_structure(plan: &Plan) -> Result<(), Vec<PlanProblem>> {
    let (parsed, mut problems) = ParsedPlan::parse(plan)?;
    problems.extend(find_problems(&parsed, &vec![None; plan.steps.len()]));
    if problems.is_empty() { Ok(()) } else { Err(in_order(problems)) }
}

/// The problems of a parsed plan. `entries` are the capabilities of its steps, as far as they are known.
fn find_problems(parsed: &ParsedPlan<'_>, entries: &[Option<&CatalogueEntry>]) -> Vec<PlanProblem> {
    let references = References::new(parsed, entries);
    let mut problems = inputs::check(parsed.plan());
    for ((location, step, parsed_step), entry) in parsed.steps().zip(entries) {
        if let Some(entry) = entry {
            problems.extend(parameters::check(&location, step, parsed_step, entry, &parsed.plan().inputs));
        }
        problems.extend(references.check_step(&location, parsed_step, *entry));
    }
    for (name, expression) in parsed.outputs() {
        let location = || PlanLocation::named("outputs", name);
        let problem = |reference: &Reference| references.check(reference, location, None);
        problems.extend(expression.references().into_iter().filter_map(problem));
    }
    problems.extend(cycles::find(parsed));
    problems
}

fn in_order(mut problems: Vec<PlanProblem>) -> Vec<PlanProblem> {
    problems.sort_by_key(|problem| problem.location.order());
    problems
}

/// The plan as it will run. Every step has an entry, because a missing one is a problem.
fn checked_plan(parsed: &ParsedPlan<'_>, entries: &[Option<&CatalogueEntry>]) -> CheckedPlan {
    let steps = parsed.steps().zip(entries).filter_map(|((_, step, parsed_step), entry)| {
        let entry = (*entry)?;
        let dependencies = parsed_step.dependencies.iter();
        Some(PlannedStep {
            id: step.step_id.clone(),
            agent: step.agent_name.clone(),
            capability: entry.capability.name.clone(),
            description: entry.capability.description.clone(),
            instruction: step.instruction.clone(),
            declared: entry.capability.effect,
            parameters: parsed_step.parameters.clone(),
            schema: entry.compiled_schema(),
            limit_ms: step.limit_ms(),
            dependencies: dependencies.clone().filter_map(|dependency| parsed.id(dependency.index)).cloned().collect(),
            dependency_indices: dependencies.map(|dependency| dependency.index).collect(),
        })
    });
    CheckedPlan::new(steps.collect(), parsed.outputs().to_vec())
}
