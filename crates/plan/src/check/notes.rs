//! Parts of a valid plan that may still fail, because no tool declares what they rely on.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Plan, Step, StepId, Value};

use super::parsed_plan::{ParsedPlan, ParsedStep};
use super::references::References;
use super::{Code, PlanAuthor, PlanLocation, PlanProblem, capability};
use crate::announced::{AnnouncedResults, KnownEntry, properties};
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::hint::listed;

/// How deep a name is searched in the declared result of a tool.
const MAX_DEPTH: usize = 8;

/// Something that a plan relies on and no tool declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanNote {
    /// What and where it is, and what to write instead.
    pub problem: PlanProblem,
    /// Whether only a model can find the missing value, as far as tools declare their results.
    pub needs_model: bool,
}

/// Everything that a plan relies on and no tool declares, in the order of the plan. A plan that cannot be parsed has none.
pub fn plan_notes(plan: &Plan, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanNote> {
    let Ok((parsed, _)) = ParsedPlan::parse(plan) else { return Vec::new() };
    let find = |(location, step, _)| capability::find(step, location, catalogue, author).ok();
    let entries: Vec<KnownEntry<'_>> = parsed.steps().map(find).collect();
    let announced = AnnouncedResults::new(plan, &entries);
    let references = References::new(&parsed, &announced);
    let mut notes = Vec::new();
    for ((location, step, parsed_step), entry) in parsed.steps().zip(&entries) {
        let Some(entry) = entry else { continue };
        notes.extend(missing_parameters(&location, step, parsed_step, entry, &parsed, &announced));
        notes.extend(undeclared_fields(&location, parsed_step, &references));
    }
    notes
}

/// Required parameters that must come from results or from a model.
fn missing_parameters(
    location: &PlanLocation,
    step: &Step,
    parsed_step: &ParsedStep,
    entry: &CatalogueEntry,
    parsed: &ParsedPlan<'_>,
    announced: &AnnouncedResults,
) -> Vec<PlanNote> {
    let Some(schema) = entry.compiled_schema().filter(|_| !parsed_step.dependencies.is_empty()) else {
        return Vec::new();
    };
    let given: Vec<&str> = step.parameters().into_iter().flat_map(Object::keys).collect();
    let dependencies = parsed_step.dependencies.iter();
    let declared: Vec<Option<&Value>> =
        dependencies.clone().map(|dependency| announced.schema_with_fields(dependency.index)).collect();
    let ids: Vec<&str> =
        dependencies.filter_map(|dependency| parsed.id(dependency.index)).map(StepId::as_str).collect();
    let required = schema.source().get("required").and_then(Value::as_array).unwrap_or_default();
    let is_missing = |name: &&str| {
        let is_declared = declared.iter().flatten().any(|schema| has_property(schema, name, MAX_DEPTH));
        !is_declared && !given.iter().any(|each| are_alike(each, name))
    };
    let note = |name: &str| {
        let needs_model = declared.iter().all(Option::is_some);
        let message = if needs_model {
            format!("`{name}` is not given, and no tool declares it in its result: only a model can find it")
        } else {
            let ids = ids.join("`, `");
            format!(
                "`{name}` is not given: it is looked up in the results of `{ids}`, and a model is asked if it is not there"
            )
        };
        let location = location.clone().key("metadata").key("parameters");
        PlanNote { problem: PlanProblem::new(Code::MissingParameter, location, message), needs_model }
    };
    required.iter().filter_map(Value::as_str).filter(is_missing).map(note).collect()
}

/// References to fields that a tool does not declare and may still answer with.
fn undeclared_fields(location: &PlanLocation, parsed_step: &ParsedStep, references: &References<'_>) -> Vec<PlanNote> {
    let mut notes = Vec::new();
    for (name, template) in parsed_step.parameters.iter() {
        for reference in template.references() {
            let Some((field, known)) = references.undeclared_field(reference) else { continue };
            let message = format!("`{reference}` may be missing: its tool declares no field `{field}`");
            let location = location.clone().parameter(&Path::root().key(name));
            let problem = PlanProblem::new(Code::BadPath, location, message).with_hint(Some(listed(&known)));
            notes.push(PlanNote { problem, needs_model: false });
        }
    }
    notes
}

/// Whether a schema has a property of this name at any depth up to `depth`.
fn has_property(schema: &Value, name: &str, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    properties(schema).any(|(key, value)| are_alike(key, name) || has_property(value, name, depth))
        || schema.get("items").is_some_and(|items| has_property(items, name, depth))
}
