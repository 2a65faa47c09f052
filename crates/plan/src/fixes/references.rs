//! Writes references between braces where a model wrote them in another template language, in a plan or in values for a step.

use reknit_protocol::{Object, Plan, StepId};

use super::{PlanFix, PlanFixKind};
use crate::announced::{AnnouncedResults, KnownEntry};
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::check::find_capability;
use crate::unbraced::{Certainty, PlanTexts, SourceNames, UnbracedFinder};
use crate::{PlanAuthor, StepIndex};

/// The end of the name of a parameter whose value is a path, in the language of Step Functions: `"amount.$"`.
const PATH_MARK: &str = ".$";

/// Writes every reference that has only one meaning between braces.
pub(super) fn add_braces(plan: &mut Plan, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanFix> {
    let entries: Vec<KnownEntry<'_>> = plan.steps.iter().map(|step| find_capability(step, catalogue, author)).collect();
    let announced = AnnouncedResults::new(plan, &entries);
    let names = SourceNames::new(plan);
    let finder = UnbracedFinder::new(&names, &announced);
    let mut fixes = Vec::new();
    let mut rewritten: Vec<(usize, Object)> = Vec::new();
    for (position, step) in plan.steps.iter().enumerate() {
        let Some(parameters) = step.parameters() else { continue };
        let schema = entries.get(position).copied().flatten().and_then(CatalogueEntry::compiled_schema);
        let schema = schema.as_ref().map(|schema| schema.source());
        let mut visited = PlanTexts::new(&finder, plan, StepIndex::new(position));
        let mut object = Object::new();
        for (name, value) in parameters {
            let unmarked = name.strip_suffix(PATH_MARK).filter(|unmarked| !parameters.contains_key(unmarked));
            let unmarked = unmarked.unwrap_or(name);
            let mut value = value.clone();
            let is_changed = visited.visit_parameter(unmarked, &mut value, schema);
            let is_reference = is_changed && value.as_str().is_some_and(|text| text.starts_with("{{"));
            object.insert(if is_reference { unmarked } else { name }, value);
        }
        let certain = visited.found.iter().filter(|(_, found)| found.certainty == Certainty::Certain);
        let fixes_of_step = certain.filter_map(|(_, found)| {
            Some(PlanFix::new(&step.step_id, PlanFixKind::Reference, &found.text, found.rewrite.as_deref()?))
        });
        let before = fixes.len();
        fixes.extend(fixes_of_step);
        if fixes.len() > before {
            rewritten.push((position, object));
        }
    }
    for (position, parameters) in rewritten {
        if let Some(step) = plan.steps.get_mut(position) {
            step.metadata.insert("parameters", parameters);
        }
    }
    fixes
}

/// Values for the parameters of a step, read by the rules for references in a model's plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadValues {
    /// The values, with every reference that has only one meaning between braces.
    pub values: Object,
    /// The references that were put between braces.
    pub fixes: Vec<PlanFix>,
    /// The texts that may be references. They must not be sent as they are.
    pub doubtful: Vec<DoubtfulText>,
}

/// A text that may be a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubtfulText {
    pub text: String,
    pub message: String,
}

/// Reads the values that a model writes for the parameters of a step. Without such a step they are returned as they are.
pub fn read_values(plan: &Plan, catalogue: &Catalogue, step: &StepId, values: &Object) -> ReadValues {
    let mut read = ReadValues { values: values.clone(), fixes: Vec::new(), doubtful: Vec::new() };
    let Some(position) = plan.steps.iter().position(|other| other.step_id == *step) else { return read };
    let entry = |step| find_capability(step, catalogue, PlanAuthor::Model);
    let entries: Vec<KnownEntry<'_>> = plan.steps.iter().map(entry).collect();
    let announced = AnnouncedResults::new(plan, &entries);
    let names = SourceNames::new(plan);
    let finder = UnbracedFinder::new(&names, &announced);
    let schema = entries.get(position).copied().flatten().and_then(CatalogueEntry::compiled_schema);
    let schema = schema.as_ref().map(|schema| schema.source());
    let mut visited = PlanTexts::new(&finder, plan, StepIndex::new(position));
    for (name, value) in &mut read.values {
        visited.visit_parameter(name, value, schema);
    }
    for (_, found) in visited.found {
        match found.rewrite.as_deref().filter(|_| found.certainty == Certainty::Certain) {
            Some(rewrite) => read.fixes.push(PlanFix::new(step, PlanFixKind::Reference, &found.text, rewrite)),
            None => read.doubtful.push(DoubtfulText { message: found.message(), text: found.text }),
        }
    }
    read
}
