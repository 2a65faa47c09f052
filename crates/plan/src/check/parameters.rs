//! Checks the parameters of a step against the schema of its capability.

use reknit_expressions::fit_parameters;
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, PlanInput, Segment, Step, Value};
use reknit_salvage::{FitProblemKind, Schema};

use super::parsed_plan::ParsedStep;
use super::{Code, PlanLocation, PlanProblem};
use crate::announced::field_names;
use crate::catalogue::CatalogueEntry;
use crate::hint::suggestion;

/// The parameters that are missing or unknown, and the values that do not fit.
pub(super) fn check(
    location: &PlanLocation,
    step: &Step,
    parsed_step: &ParsedStep,
    entry: &CatalogueEntry,
    inputs: &[(String, PlanInput)],
) -> Vec<PlanProblem> {
    let Some(schema) = entry.compiled_schema() else { return Vec::new() };
    let given: Vec<&str> = step.parameters().into_iter().flat_map(Object::keys).collect();
    let mut problems = Vec::new();
    // A step with dependencies may still get missing values from their results.
    if parsed_step.dependencies.is_empty() {
        problems.extend(missing(location, &given, entry, &schema, inputs));
    }
    problems.extend(unknown(location, &given, entry, &schema));
    problems.extend(misfits(location, &given, parsed_step, &schema));
    problems
}

fn missing(
    location: &PlanLocation,
    given: &[&str],
    entry: &CatalogueEntry,
    schema: &Schema,
    inputs: &[(String, PlanInput)],
) -> Vec<PlanProblem> {
    let required = schema.source().get("required").and_then(Value::as_array).unwrap_or_default();
    let is_given = |name: &&str| given.iter().any(|each| are_alike(each, name));
    let problem = |name: &str| {
        let message = format!("`{}` needs the parameter `{name}`", entry.capability.name);
        let location = location.clone().key("metadata").key("parameters");
        let input = inputs.iter().find(|(input, _)| are_alike(input, name));
        let hint = input.map(|(input, _)| format!("write `{name}: \"{{{{inputs.{input}}}}}\"`"));
        PlanProblem::new(Code::MissingParameter, location, message).with_hint(hint)
    };
    required.iter().filter_map(Value::as_str).filter(|name| !is_given(name)).map(problem).collect()
}

fn unknown(location: &PlanLocation, given: &[&str], entry: &CatalogueEntry, schema: &Schema) -> Vec<PlanProblem> {
    if schema.source().get("additionalProperties") != Some(&Value::Bool(false)) {
        return Vec::new();
    }
    let declared = field_names(schema.source());
    let unknown = given.iter().filter(|name| !declared.iter().any(|known| are_alike(known, name)));
    let problem = |name: &&str| {
        let message = format!("`{}` has no parameter `{name}`", entry.capability.name);
        PlanProblem::new(Code::UnknownParameter, location.clone().parameter(&Path::root().key(name)), message)
            .with_hint(Some(suggestion(name, &declared)))
    };
    unknown.map(problem).collect()
}

/// Literal values that do not fit, even after conversion without loss.
fn misfits(location: &PlanLocation, given: &[&str], parsed_step: &ParsedStep, schema: &Schema) -> Vec<PlanProblem> {
    let literals = parsed_step
        .parameters
        .iter()
        .filter_map(|(name, template)| Some((name.to_owned(), template.as_literal()?.clone())));
    let literals: Object = literals.collect();
    // Problems of the whole object count only if no value is added later.
    let is_complete = parsed_step.dependencies.is_empty() && literals.len() == given.len();
    if literals.is_empty() && !is_complete {
        return Vec::new();
    }
    let Err(misfit) = fit_parameters(Value::Object(literals.clone()), schema) else { return Vec::new() };
    let counts = |path: &Path, kind: &FitProblemKind| match path.segments().first() {
        Some(Segment::Key(name)) => literals.keys().any(|known| are_alike(known, name)),
        // `missing` and `unknown` report these two with more detail.
        _ => is_complete && !matches!(kind, FitProblemKind::Required { .. } | FitProblemKind::UnknownProperty { .. }),
    };
    let problems = misfit.problems.iter().filter(|problem| counts(&problem.path, &problem.kind));
    problems
        .map(|problem| {
            PlanProblem::new(Code::BadValue, location.clone().parameter(&problem.path), problem.message.as_str())
        })
        .collect()
}
