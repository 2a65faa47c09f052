//! What is not wrong with a plan and yet may not come out as it was meant: nobody announces that it can.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Plan, Step, Value};

use super::outline::{Drawn, Outline};
use super::references::References;
use super::{Author, Code, PlanPlace, PlanProblem, tool};
use crate::catalogue::{Catalogue, Entry};
use crate::hint::listed;

/// How deep a name is looked for in what a tool announces.
const DEPTH: usize = 8;

/// Something that a plan relies on and nobody announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanNote {
    /// What, where, and what to write instead.
    pub problem: PlanProblem,
    /// Whether, as far as is announced, only a model can find what is left out.
    pub needs_model: bool,
}

/// Everything that a plan relies on and nobody announces, in the order of the plan. A plan that cannot run has none.
pub fn notes(plan: &Plan, catalogue: &Catalogue, author: Author) -> Vec<PlanNote> {
    let Ok((outline, _)) = Outline::draw(plan) else { return Vec::new() };
    let find = |(place, step, _)| tool::find(step, place, catalogue, author).ok();
    let entries: Vec<Option<&Entry>> = outline.steps().map(find).collect();
    let references = References::new(&outline, &entries);
    let mut notes = Vec::new();
    for ((place, step, drawn), entry) in outline.steps().zip(&entries) {
        let Some(entry) = entry else { continue };
        notes.extend(left_out(&place, step, drawn, entry, &outline, &references));
        notes.extend(unannounced(&place, drawn, &references));
    }
    notes
}

/// Parameters that are to come from results, or from a model.
fn left_out(
    place: &PlanPlace,
    step: &Step,
    drawn: &Drawn,
    entry: &Entry,
    outline: &Outline<'_>,
    references: &References<'_>,
) -> Vec<PlanNote> {
    let Some(schema) = entry.compiled().filter(|_| !drawn.needs.is_empty()) else { return Vec::new() };
    let given: Vec<&str> = step.parameters().into_iter().flat_map(Object::keys).collect();
    let announced: Vec<Option<&Value>> = drawn.needs.iter().map(|need| references.announced_by(need.at)).collect();
    let needed: Vec<&str> =
        drawn.needs.iter().filter_map(|need| outline.id(need.at)).map(reknit_protocol::StepId::as_str).collect();
    let required = schema.source().get("required").and_then(Value::as_array).unwrap_or_default();
    let is_open = |name: &&str| {
        let is_there = announced.iter().flatten().any(|schema| has(schema, name, DEPTH));
        !is_there && !given.iter().any(|each| are_alike(each, name))
    };
    let note = |name: &str| {
        let needs_model = announced.iter().all(Option::is_some);
        let message = if needs_model {
            format!("`{name}` is left out, and no result is announced to have it: only a model can find it")
        } else {
            let needed = needed.join("`, `");
            format!(
                "`{name}` is left out: it is looked for in what `{needed}` gives, and a model is asked if it is not there"
            )
        };
        let place = place.clone().key("metadata").key("parameters");
        PlanNote { problem: PlanProblem::new(Code::MissingParameter, place, message), needs_model }
    };
    required.iter().filter_map(Value::as_str).filter(is_open).map(note).collect()
}

/// References to places that a tool does not announce, and that may come all the same.
fn unannounced(place: &PlanPlace, drawn: &Drawn, references: &References<'_>) -> Vec<PlanNote> {
    let mut notes = Vec::new();
    for (name, template) in drawn.parameters.iter() {
        for reference in template.references() {
            let Some((field, known)) = references.unannounced(reference) else { continue };
            let message = format!("`{reference}` may not be there: its tool announces no `{field}`");
            let place = place.clone().parameter(&Path::root().key(name));
            let problem = PlanProblem::new(Code::BadPath, place, message).hint(Some(listed(&known)));
            notes.push(PlanNote { problem, needs_model: false });
        }
    }
    notes
}

/// Whether a schema has a property of this name, however deep.
fn has(schema: &Value, name: &str, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut inside = properties.into_iter().flat_map(Object::iter);
    inside.any(|(key, value)| are_alike(key, name) || has(value, name, depth))
        || schema.get("items").is_some_and(|items| has(items, name, depth))
}
