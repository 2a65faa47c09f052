//! Whether a step gives its capability what it takes.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Input, Object, Path, Segment, Step, Value};
use reknit_salvage::{ProblemKind, Schema, fit};

use super::outline::Drawn;
use super::{Code, PlanPlace, PlanProblem};
use crate::catalogue::Entry;
use crate::hint::suggestion;

/// What is missing, what is unknown, and which values do not fit.
pub(super) fn check(
    place: &PlanPlace,
    step: &Step,
    drawn: &Drawn,
    entry: &Entry,
    inputs: &[(String, Input)],
) -> Vec<PlanProblem> {
    let Some(schema) = entry.compiled() else { return Vec::new() };
    let given: Vec<&str> = step.parameters().into_iter().flat_map(Object::keys).collect();
    let mut problems = Vec::new();
    // A step that needs others may still get it from their results.
    if drawn.needs.is_empty() {
        problems.extend(missing(place, &given, entry, &schema, inputs));
    }
    problems.extend(unknown(place, &given, entry, &schema));
    problems.extend(unfit(place, &given, drawn, &schema));
    problems
}

fn missing(
    place: &PlanPlace,
    given: &[&str],
    entry: &Entry,
    schema: &Schema,
    inputs: &[(String, Input)],
) -> Vec<PlanProblem> {
    let required = schema.source().get("required").and_then(Value::as_array).unwrap_or_default();
    let is_given = |name: &&str| given.iter().any(|each| are_alike(each, name));
    let problem = |name: &str| {
        let message = format!("`{}` needs the parameter `{name}`", entry.capability.name);
        let place = place.clone().key("metadata").key("parameters");
        let input = inputs.iter().find(|(input, _)| are_alike(input, name));
        let hint = input.map(|(input, _)| format!("write `{name}: \"{{{{inputs.{input}}}}}\"`"));
        PlanProblem::new(Code::MissingParameter, place, message).hint(hint)
    };
    required.iter().filter_map(Value::as_str).filter(|name| !is_given(name)).map(problem).collect()
}

/// Parameters that the schema refuses, whatever their value.
fn unknown(place: &PlanPlace, given: &[&str], entry: &Entry, schema: &Schema) -> Vec<PlanProblem> {
    if schema.source().get("additionalProperties") != Some(&Value::Bool(false)) {
        return Vec::new();
    }
    let properties = schema.source().get("properties").and_then(Value::as_object);
    let declared: Vec<&str> = properties.into_iter().flat_map(Object::keys).collect();
    let unknown = given.iter().filter(|name| !declared.iter().any(|known| are_alike(known, name)));
    let problem = |name: &&str| {
        let message = format!("`{}` has no parameter `{name}`", entry.capability.name);
        PlanProblem::new(Code::UnknownParameter, place.clone().parameter(&Path::root().key(name)), message)
            .hint(Some(suggestion(name, &declared)))
    };
    unknown.map(problem).collect()
}

/// Values that are written out and do not fit, after all that can be done without loss.
fn unfit(place: &PlanPlace, given: &[&str], drawn: &Drawn, schema: &Schema) -> Vec<PlanProblem> {
    let written =
        drawn.parameters.iter().filter_map(|(name, template)| Some((name.to_owned(), template.as_literal()?.clone())));
    let written: Object = written.collect();
    // Only if nothing can be added any more is something wrong with the whole.
    let is_whole = drawn.needs.is_empty() && written.len() == given.len();
    if written.is_empty() && !is_whole {
        return Vec::new();
    }
    let Err(misfit) = fit(Value::Object(written.clone()), schema) else { return Vec::new() };
    let counts = |path: &Path, kind: &ProblemKind| match path.segments().first() {
        Some(Segment::Key(name)) => written.keys().any(|known| are_alike(known, name)),
        // These two are told with more words.
        _ => is_whole && !matches!(kind, ProblemKind::Required { .. } | ProblemKind::UnknownProperty { .. }),
    };
    let problems = misfit.problems.iter().filter(|problem| counts(&problem.path, &problem.kind));
    problems
        .map(|problem| {
            PlanProblem::new(Code::BadValue, place.clone().parameter(&problem.path), problem.message.as_str())
        })
        .collect()
}
