//! Everything that is wrong with a plan, at once, before anything happens.

use std::collections::HashSet;

use reknit_bind::Parameters;
use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{Object, Plan, Step, StepId, Value};

use super::problem::{PlanProblem, ProblemCode as Code};
use super::{Checked, Planned};
use crate::catalogue::{Catalogue, Entry};

/// Checks a plan against the tools there are.
pub fn check(plan: &Plan, catalogue: &Catalogue) -> Result<Checked, Vec<PlanProblem>> {
    let ids: Vec<StepId> = plan.steps.iter().map(|step| step.step_id.clone()).collect();
    let mut problems = check_ids(&ids);
    let mut steps = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        match check_step(step, &ids, catalogue) {
            Ok(planned) => steps.push(planned),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        problems.extend(find_cycle(&steps));
    }
    if problems.is_empty() { Ok(Checked { steps }) } else { Err(problems) }
}

fn check_ids(ids: &[StepId]) -> Vec<PlanProblem> {
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for id in ids {
        if id.as_str().trim().is_empty() {
            problems.push(PlanProblem::new(Code::EmptyId, id, "a step has no id".to_owned()));
        } else if !seen.insert(id) {
            problems.push(PlanProblem::new(Code::DuplicateId, id, "two steps have this id".to_owned()));
        }
    }
    problems
}

fn check_step(step: &Step, ids: &[StepId], catalogue: &Catalogue) -> Result<Planned, Vec<PlanProblem>> {
    let id = &step.step_id;
    let mut problems = check_dependencies(step, ids);
    let empty = Object::new();
    let parameters = Parameters::parse(step.parameters().unwrap_or(&empty), ids)
        .map_err(|error| problems.push(PlanProblem::new(Code::BadReference, id, error.to_string())))
        .ok();
    let entry = find_entry(step, catalogue).map_err(|problem| problems.push(problem)).ok();
    let (Some(parameters), Some(entry)) = (parameters, entry) else { return Err(problems) };

    let mut needs: Vec<StepId> = step.depends_on.clone();
    for used in parameters.steps() {
        if !needs.contains(&used) {
            needs.push(used);
        }
    }
    if needs.contains(id) && !step.depends_on.contains(id) {
        problems.push(PlanProblem::new(Code::SelfDependency, id, "the step refers to its own result".to_owned()));
    }
    problems.extend(check_parameters(id, &parameters, &needs, entry));
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Planned {
        id: id.clone(),
        agent: step.agent_name.clone(),
        capability: entry.capability.name.clone(),
        description: entry.capability.description.clone(),
        instruction: step.instruction.clone(),
        declared: entry.capability.effect,
        parameters,
        schema: entry.compiled(),
        needs_at: needs.iter().filter_map(|need| ids.iter().position(|id| id == need)).collect(),
        needs,
    })
}

fn check_dependencies(step: &Step, ids: &[StepId]) -> Vec<PlanProblem> {
    let id = &step.step_id;
    let problem = |needed: &StepId| {
        if needed == id {
            return Some(PlanProblem::new(Code::SelfDependency, id, "the step depends on itself".to_owned()));
        }
        if ids.contains(needed) {
            return None;
        }
        let near = nearest(needed.as_str(), ids.iter().map(StepId::as_str));
        Some(
            PlanProblem::new(Code::UnknownDependency, id, format!("it depends on `{needed}`, which is no step"))
                .hint(near.map(|name| format!("did you mean `{name}`?"))),
        )
    };
    step.depends_on.iter().filter_map(problem).collect()
}

fn find_entry<'a>(step: &Step, catalogue: &'a Catalogue) -> Result<&'a Entry, PlanProblem> {
    let (id, agent) = (&step.step_id, step.agent_name.as_str());
    let Some(tool) = catalogue.tool(agent) else {
        let names: Vec<&str> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(PlanProblem::new(Code::UnknownTool, id, format!("there is no tool `{agent}`"))
            .hint(Some(suggestion(agent, &names))));
    };
    let names: Vec<&str> = tool.capabilities.iter().map(|entry| entry.capability.name.as_str()).collect();
    let Some(wanted) = step.capability() else {
        let message = format!("it does not say which capability of `{agent}` to call");
        return Err(PlanProblem::new(Code::UnknownCapability, id, message)
            .hint(Some(format!("set `metadata.capability` to one of: {}", names.join(", ")))));
    };
    tool.entry(wanted).ok_or_else(|| {
        PlanProblem::new(Code::UnknownCapability, id, format!("`{agent}` has no capability `{wanted}`"))
            .hint(Some(suggestion(wanted, &names)))
    })
}

fn suggestion(wanted: &str, names: &[&str]) -> String {
    match nearest(wanted, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "there is none at all".to_owned(),
        None => format!("there is: {}", names.join(", ")),
    }
}

fn check_parameters(id: &StepId, parameters: &Parameters, needs: &[StepId], entry: &Entry) -> Vec<PlanProblem> {
    let given: Vec<&str> = parameters.names().collect();
    let missing = entry.required().into_iter().filter(|name| {
        // A step that needs others may still get it from their results.
        needs.is_empty() && !given.iter().any(|given| are_alike(given, name))
    });
    let missing = missing.map(|name| {
        let message = format!("`{}` needs the parameter `{name}`", entry.capability.name);
        PlanProblem::new(Code::MissingParameter, id, message)
    });
    missing.chain(unknown_parameters(id, &given, entry)).collect()
}

/// Parameters that the schema refuses, whatever their value.
fn unknown_parameters(id: &StepId, given: &[&str], entry: &Entry) -> Vec<PlanProblem> {
    let closed = entry.source().is_some_and(|schema| schema.get("additionalProperties") == Some(&Value::Bool(false)));
    let declared = entry.parameters();
    let is_unknown = |name: &&&str| closed && !declared.iter().any(|known| are_alike(known, name));
    given
        .iter()
        .filter(is_unknown)
        .map(|name| {
            let names: Vec<&str> = declared.iter().map(String::as_str).collect();
            let message = format!("`{}` has no parameter `{name}`", entry.capability.name);
            PlanProblem::new(Code::UnknownParameter, id, message).hint(Some(suggestion(name, &names)))
        })
        .collect()
}

/// Steps that wait for each other, if there are any.
fn find_cycle(steps: &[Planned]) -> Option<PlanProblem> {
    let mut left: Vec<&Planned> = steps.iter().collect();
    loop {
        let before = left.len();
        let waiting: HashSet<&StepId> = left.iter().map(|step| &step.id).collect();
        left.retain(|step| step.needs.iter().any(|needed| waiting.contains(needed)));
        if left.is_empty() {
            return None;
        }
        if left.len() == before {
            return Some(name_cycle(&left));
        }
    }
}

/// Every step that is left needs another that is left, so following needs runs into a circle.
fn name_cycle(left: &[&Planned]) -> PlanProblem {
    let mut way: Vec<&StepId> = Vec::new();
    let mut at = left.first().map(|step| &step.id);
    while let Some(id) = at {
        if let Some(start) = way.iter().position(|seen| *seen == id) {
            way.drain(..start);
            break;
        }
        way.push(id);
        let step = left.iter().find(|step| step.id == *id);
        at = step.and_then(|step| step.needs.iter().find(|needed| left.iter().any(|other| other.id == **needed)));
    }
    let mut names: Vec<&str> = way.iter().map(|id| id.as_str()).collect();
    names.extend(way.first().map(|id| id.as_str()));
    let message = format!("these steps wait for each other: {}", names.join(" -> "));
    PlanProblem { code: Code::Cycle, step: None, message, hint: None }
}
