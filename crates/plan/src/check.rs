//! Everything that is wrong with a plan, at once, before anything happens.

mod notes;
mod order;
mod outline;
mod parameters;
mod references;
mod tool;

use reknit_bind::Reference;
use reknit_protocol::{Plan, StepId};

use super::problem::{PlanPlace, PlanProblem, ProblemCode as Code};
use super::{Checked, Planned, inputs};
use crate::catalogue::{Catalogue, Entry};
pub use notes::{PlanNote, notes};
use outline::{Outline, Why};
use references::References;

/// The most steps a plan may have. Hardly a budget pays for more.
const MOST_STEPS: usize = 10_000;

/// Who wrote a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A person, who may call whatever there is.
    Person,
    /// A model, which may only call what it was shown.
    Model,
}

/// Checks a plan against the tools there are. What is wrong is told in the order of the plan, the plan as a whole last.
pub fn check(plan: &Plan, catalogue: &Catalogue, author: Author) -> Result<Checked, Vec<PlanProblem>> {
    let (outline, mut problems) = Outline::draw(plan)?;
    let find = |(place, step, _)| tool::find(step, place, catalogue, author);
    let found: Vec<Result<&Entry, PlanProblem>> = outline.steps().map(find).collect();
    let entries: Vec<Option<&Entry>> = found.iter().map(|entry| entry.as_ref().ok().copied()).collect();
    problems.extend(found.into_iter().filter_map(Result::err));
    problems.extend(examine(&outline, &entries));
    if problems.is_empty() { Ok(checked(&outline, &entries)) } else { Err(in_order(problems)) }
}

/// Checks what can be checked without knowing any tool: ids, order, templates, inputs.
pub fn check_structure(plan: &Plan) -> Result<(), Vec<PlanProblem>> {
    let (outline, mut problems) = Outline::draw(plan)?;
    let unknown = vec![None; plan.steps.len()];
    problems.extend(examine(&outline, &unknown));
    if problems.is_empty() { Ok(()) } else { Err(in_order(problems)) }
}

/// What is wrong with a plan whose templates are read, given the capabilities of its steps as far as they are known.
fn examine(outline: &Outline<'_>, entries: &[Option<&Entry>]) -> Vec<PlanProblem> {
    let references = References::new(outline, entries);
    let mut problems = inputs::check(outline.plan());
    for ((place, step, drawn), entry) in outline.steps().zip(entries) {
        if let Some(entry) = entry {
            problems.extend(parameters::check(&place, step, drawn, entry, &outline.plan().inputs));
        }
        problems.extend(references.check_step(&place, drawn, *entry));
    }
    for (name, expression) in outline.outputs() {
        let place = || PlanPlace::named("outputs", name);
        let problem = |reference: &Reference| references.check(reference, place, None);
        problems.extend(expression.references().into_iter().filter_map(problem));
    }
    problems.extend(order::cycles(outline));
    problems
}

fn in_order(mut problems: Vec<PlanProblem>) -> Vec<PlanProblem> {
    problems.sort_by_key(|problem| problem.place.order());
    problems
}

/// The plan as it will run. Every step has its entry: that one is missing would have been a problem.
fn checked(outline: &Outline<'_>, entries: &[Option<&Entry>]) -> Checked {
    let steps = outline.steps().zip(entries).filter_map(|((_, step, drawn), entry)| {
        let entry = (*entry)?;
        Some(Planned {
            id: step.step_id.clone(),
            agent: step.agent_name.clone(),
            capability: entry.capability.name.clone(),
            description: entry.capability.description.clone(),
            instruction: step.instruction.clone(),
            declared: entry.capability.effect,
            parameters: drawn.parameters.clone(),
            schema: entry.compiled(),
            limit_ms: step.limit_ms(),
            needs: drawn.needs.iter().filter_map(|need| outline.id(need.at)).cloned().collect::<Vec<StepId>>(),
            needs_at: drawn.needs.iter().map(|need| need.at).collect(),
        })
    });
    Checked::new(steps.collect(), outline.outputs().to_vec())
}
