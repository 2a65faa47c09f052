//! References without braces in values that a model writes for a step while the plan runs.

use reknit_protocol::{Object, Plan, StepId};

use crate::announced::AnnouncedResults;
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::unbraced::{Certainty, PlanTexts, SourceNames, UnbracedFinder};
use crate::{PlanAuthor, PlanFix, PlanFixKind, StepIndex};

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
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub message: String,
}

/// Reads the values that a model writes for the parameters of a step. Without such a step they are returned as they are.
pub fn read_values(plan: &Plan, catalogue: &Catalogue, step: &StepId, values: &Object) -> ReadValues {
    let mut read = ReadValues { values: values.clone(), fixes: Vec::new(), doubtful: Vec::new() };
    let Some(position) = plan.steps.iter().position(|other| other.step_id == *step) else { return read };
    let entry = |step| crate::check::find_capability(step, catalogue, PlanAuthor::Model);
    let entries: Vec<Option<&CatalogueEntry>> = plan.steps.iter().map(entry).collect();
    let announced = AnnouncedResults::new(plan, &entries);
    let names = SourceNames::new(plan);
    let finder = UnbracedFinder::new(&names, &announced);
    let schema = entries.get(position).copied().flatten().and_then(CatalogueEntry::compiled_schema);
    let schema = schema.as_ref().map(|schema| schema.source());
    let mut visited = PlanTexts::new(&finder, plan, StepIndex::new(position));
    for (name, value) in values {
        if let Some(new) = visited.visit_parameter(name, value, schema) {
            read.values.insert(name, new);
        }
    }
    for (_, found) in visited.found {
        match found.rewrite.as_deref().filter(|_| found.certainty == Certainty::Certain) {
            Some(rewrite) => read.fixes.push(PlanFix::new(step, PlanFixKind::Reference, &found.text, rewrite)),
            None => read.doubtful.push(DoubtfulText { message: found.message(), text: found.text }),
        }
    }
    read
}
