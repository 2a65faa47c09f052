//! Checks a plan before anything runs, and reports all problems at once.

mod capability;
mod controls;
mod cycles;
mod notes;
mod parameters;
mod parsed_plan;
mod references;
mod template_problem;
mod tolerant;
mod verify;

use std::sync::Arc;

use reknit_expressions::Reference;
use reknit_protocol::{Capability, Object, Plan, SideEffect, Step, Value};
use reknit_salvage::Schema;
use serde::{Deserialize, Serialize};

use super::problem::{PlanLocation, PlanProblem, ProblemCode as Code};
use super::{CheckedPlan, GraphState, GraphStep, PlannedOutput, PlannedStep, REPLY, RESULT, StepGraph, inputs};
use crate::agents::AGENT_TOOL;
use crate::announced::{AnnouncedResults, KnownEntry};
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::unbraced::{PlanTexts, SourceNames, UnbracedFinder};
use controls::reads_own_result;
pub use notes::{PlanNote, plan_notes};
use parsed_plan::{ParsedPlan, ParsedStep};
use references::{References, WantedType, check_reference};
pub use tolerant::{ProblemScope, TolerablePlan, check_tolerantly};
pub use verify::check_read_calls;

/// The capability of a step that calls no tool, in records and answers. Models write it as the tool of such a step.
pub(crate) const COMPUTE: &str = "compute";

/// The most steps of a plan. Hardly any budget pays for more.
const MAX_STEPS: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanAuthor {
    /// A person, who may call every capability.
    #[default]
    Person,
    /// A model, which may only call the capabilities that it was shown.
    Model,
}

/// Checks a plan against the tools of the catalogue. Problems are in the order of the plan, those of the whole plan last.
pub fn check(plan: &Plan, catalogue: &Catalogue, author: PlanAuthor) -> Result<CheckedPlan, Vec<PlanProblem>> {
    match check_parts(plan, catalogue, author)? {
        (Some(checked), problems) if problems.is_empty() => Ok(checked),
        (_, problems) => Err(problems),
    }
}

/// The problems of a plan in order, and the plan as it would run with them, if every step has a tool.
fn check_parts(
    plan: &Plan,
    catalogue: &Catalogue,
    author: PlanAuthor,
) -> Result<(Option<CheckedPlan>, Vec<PlanProblem>), Vec<PlanProblem>> {
    let (parsed, mut problems) = ParsedPlan::parse(plan)?;
    let mut entries: Vec<KnownEntry<'_>> = Vec::with_capacity(plan.steps.len());
    let mut all_found = true;
    for (location, step, _) in parsed.steps() {
        let found = match (step.sub_plan(), step.agent_file()) {
            (Some(name), _) => Err(not_loaded(name, location)),
            (None, Some(file)) if find_agent(step, catalogue).is_none() => Err(agent_not_loaded(file, location)),
            (None, _) => (!step.is_computed()).then(|| capability::find(step, location, catalogue, author)).transpose(),
        };
        all_found &= found.is_ok();
        entries.push(found.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        }));
    }
    let (verify_entries, of_verify) = verify::find(&parsed, catalogue, author);
    all_found &= of_verify.is_empty();
    problems.extend(of_verify);
    problems.extend(find_problems(&parsed, &entries, &verify_entries));
    let checked = all_found.then(|| checked_plan(&parsed, &entries, &verify_entries));
    Ok((checked, in_order(problems)))
}

/// The problem of a step that runs a plan file, whose steps should have replaced it.
fn not_loaded(name: &str, location: PlanLocation) -> PlanProblem {
    let message = format!("the plan `{name}` that the step runs is not loaded");
    let hint = "only a plan file can run another one; a program loads it with `load_plan_file`".to_owned();
    PlanProblem::new(Code::BadControl, location.key("metadata").key("plan"), message).with_hint(Some(hint))
}

fn find_agent<'c>(step: &Step, catalogue: &'c Catalogue) -> KnownEntry<'c> {
    catalogue.entry(AGENT_TOOL, step.capability()?)
}

/// The problem of a step that runs an agent which nobody has given.
fn agent_not_loaded(file: &str, location: PlanLocation) -> PlanProblem {
    let message = format!("the agent `{file}` that the step runs is not loaded");
    let hint = "`reknit run` reads it from the file; `reknit serve --agent FILE` offers it to plans; a program gives it to \
                `Runtime::started_with_agents`";
    PlanProblem::new(Code::BadControl, location.key("metadata").key("agent"), message).with_hint(Some(hint.to_owned()))
}

/// The schema of the parameters of a step that computes, if its value has a type.
fn result_schema(step: &Step) -> Option<Arc<Schema>> {
    let schema = step.metadata.get("result_schema").filter(|_| step.is_computed())?;
    let properties = Object::from([("result", schema.clone())]);
    Schema::compile(&Value::Object(Object::from([("properties", Value::Object(properties))]))).ok().map(Arc::new)
}

/// Checks what can be checked without a catalogue: ids, dependencies, templates and inputs.
pub fn check_structure(plan: &Plan) -> Result<(), Vec<PlanProblem>> {
    let (parsed, mut problems) = ParsedPlan::parse(plan)?;
    let unknown = vec![None; plan.steps.len()];
    problems.extend(find_problems(&parsed, &unknown, &unknown));
    if problems.is_empty() { Ok(()) } else { Err(in_order(problems)) }
}

/// The steps of a plan and what they need, also through references. Fails with the problems that are found without a catalogue.
pub fn plan_graph(plan: &Plan) -> Result<StepGraph, Vec<PlanProblem>> {
    check_structure(plan)?;
    let (parsed, _) = ParsedPlan::parse(plan)?;
    let steps = parsed.steps().map(|(_, step, parsed_step)| GraphStep {
        id: step.step_id.clone(),
        label: label(step),
        state: GraphState::Planned,
        needs: parsed_step.dependencies.iter().filter_map(|need| parsed.id(need.index)).cloned().collect(),
    });
    Ok(StepGraph::new(steps.collect()))
}

/// What a step calls: `tool/capability`, or only the capability if the plan names no tool.
fn label(step: &Step) -> String {
    let tool = step.tool.as_str();
    match step.capability() {
        _ if step.is_computed() => COMPUTE.to_owned(),
        _ if step.sub_plan().is_some() => step.sub_plan().unwrap_or_default().to_owned(),
        Some(capability) if tool.is_empty() => capability.to_owned(),
        Some(capability) => format!("{tool}/{capability}"),
        None => tool.to_owned(),
    }
}

/// The problems of a parsed plan. `entries` are the capabilities of its steps, as far as they are known, and `verify_entries` those
/// of their `verify`.
fn find_problems(
    parsed: &ParsedPlan<'_>,
    entries: &[KnownEntry<'_>],
    verify_entries: &[KnownEntry<'_>],
) -> Vec<PlanProblem> {
    let announced = AnnouncedResults::new(parsed.plan(), entries);
    let references = References::new(parsed, &announced);
    let mut problems = inputs::check(parsed.plan());
    for ((location, step, parsed_step), (entry, verify_entry)) in parsed.steps().zip(entries.iter().zip(verify_entries))
    {
        if let Some(entry) = entry {
            problems.extend(parameters::check(&location, step, parsed_step, entry, &parsed.plan().inputs));
        }
        problems.extend(references.check_step(&location, parsed_step, *entry));
        if let Some(entry) = verify_entry {
            problems.extend(verify::check_parameters(&location, step, parsed_step, entry, &parsed.plan().inputs));
        }
        problems.extend(check_controls(&references, (&location, step, parsed_step), (*entry, *verify_entry)));
    }
    problems.extend(unbraced_references(parsed, entries, &announced));
    for PlannedOutput { name, expression, .. } in parsed.outputs() {
        let location = || PlanLocation::named("outputs", name);
        let problem = |reference: &Reference| references.check(reference, location, None);
        problems.extend(expression.references().into_iter().filter_map(problem));
    }
    problems.extend(cycles::find(parsed));
    problems
}

/// The references in the controls of a step to values that cannot exist.
fn check_controls(
    references: &References<'_>,
    (location, step, parsed_step): (&PlanLocation, &Step, &ParsedStep),
    (entry, verify_entry): (KnownEntry<'_>, KnownEntry<'_>),
) -> Vec<PlanProblem> {
    let announced = |entry: KnownEntry<'_>| entry.and_then(|entry| entry.capability.output_schema());
    let result = announced(entry.filter(|_| reads_own_result(step)));
    let reply = announced(verify_entry);
    let at = |keys: &[&str]| keys.iter().fold(location.clone().key("metadata"), |location, key| location.key(key));
    let check = |reference: &Reference, keys: &[&str]| match (reference.step().as_str(), references.is_step(reference))
    {
        (RESULT, false) => check_reference(reference, result.as_ref()?, Code::BadPath, || at(keys)),
        (REPLY, false) => check_reference(reference, reply.as_ref()?, Code::BadPath, || at(keys)),
        _ => references.check(reference, || at(keys), None),
    };
    let mut problems = Vec::new();
    for (keys, expression) in parsed_step.controls.expressions() {
        problems.extend(expression.references().into_iter().filter_map(|reference| check(reference, keys)));
    }
    let controls = &parsed_step.controls;
    let of_list = controls.foreach.iter().map(|foreach| (&foreach.list, WantedType::LIST));
    let of_condition = controls.when.iter().map(|condition| (condition, WantedType::CONDITION));
    for (expression, wanted) in of_list.chain(of_condition) {
        problems.extend(references.check_type(expression, wanted, at(&[wanted.key])));
    }
    if let Some(verify) = &controls.verify {
        let references = verify.parameters.references().into_iter();
        problems.extend(references.filter_map(|reference| check(reference, &["verify", "with"])));
    }
    problems
}

/// Texts that look like references and would be sent as they are.
fn unbraced_references(
    parsed: &ParsedPlan<'_>,
    entries: &[KnownEntry<'_>],
    announced: &AnnouncedResults,
) -> Vec<PlanProblem> {
    let names = SourceNames::new(parsed.plan());
    let finder = UnbracedFinder::new(&names, announced);
    let mut problems = Vec::new();
    for (index, ((location, step, _), entry)) in parsed.indices().zip(parsed.steps().zip(entries)) {
        let schema = entry.and_then(CatalogueEntry::compiled_schema);
        let mut texts = PlanTexts::new(&finder, parsed.plan(), index);
        for (name, value) in step.parameters().into_iter().flatten() {
            texts.visit_parameter(name, &mut value.clone(), schema.as_ref().map(|schema| schema.source()));
        }
        problems.extend(texts.found.iter().map(|(path, found)| {
            PlanProblem::new(Code::UnbracedReference, location.clone().parameter(path), found.message())
                .with_hint(Some(found.hint()))
        }));
    }
    problems
}

/// The capability that a step calls, if its names are right.
pub(crate) fn find_capability<'c>(step: &Step, catalogue: &'c Catalogue, author: PlanAuthor) -> KnownEntry<'c> {
    capability::find(step, PlanLocation::plan(), catalogue, author).ok()
}

fn in_order(mut problems: Vec<PlanProblem>) -> Vec<PlanProblem> {
    problems.sort_by_key(|problem| problem.location.order());
    problems
}

/// The plan as it will run. Every step that calls a tool has an entry, because a missing one is a problem.
fn checked_plan(parsed: &ParsedPlan<'_>, entries: &[KnownEntry<'_>], verify_entries: &[KnownEntry<'_>]) -> CheckedPlan {
    let computed = Capability { effect: SideEffect::Read, ..Capability::new(COMPUTE) };
    let entries = entries.iter().zip(verify_entries);
    let steps = parsed.steps().zip(entries).map(|((_, step, parsed_step), (entry, verify_entry))| {
        let mut controls = parsed_step.controls.clone();
        if let Some(verify) = &mut controls.verify {
            verify.schema = verify_entry.and_then(CatalogueEntry::compiled_schema);
        }
        let capability = entry.map_or(&computed, |entry| &entry.capability);
        let dependencies = parsed_step.dependencies.iter();
        PlannedStep {
            id: step.step_id.clone(),
            tool: step.tool.clone(),
            capability: capability.name.clone(),
            description: capability.description.clone(),
            instruction: step.instruction.clone(),
            declared: capability.effect,
            declared_key: capability.business_key.clone(),
            parameters: Arc::new(parsed_step.parameters.clone()),
            changes_when_read: Vec::new(),
            schema: entry.and_then(CatalogueEntry::compiled_schema).or_else(|| result_schema(step)),
            announced: capability.output_schema().map(Arc::new),
            error_fields: capability.error_fields.clone(),
            limit_ms: step.limit_ms(),
            computed: step.is_computed(),
            controls: Arc::new(controls),
            item: None,
            dependencies: dependencies.clone().filter_map(|dependency| parsed.id(dependency.index)).cloned().collect(),
            dependency_indices: dependencies.map(|dependency| dependency.index).collect(),
        }
    });
    let mut steps: Vec<PlannedStep> = steps.collect();
    // It stays in memory as long as the run, and a step is large.
    steps.shrink_to_fit();
    CheckedPlan::new(steps, parsed.outputs().to_vec())
}
