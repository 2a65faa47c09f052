//! Writes references between braces where a model wrote them in another template language.

use reknit_protocol::{Object, Plan};

use super::{PlanFix, PlanFixKind};
use crate::announced::AnnouncedResults;
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::unbraced::{Certainty, PlanTexts, SourceNames, UnbracedFinder};
use crate::{PlanAuthor, StepIndex};

/// The end of the name of a parameter whose value is a path, in the language of Step Functions: `"amount.$"`.
const PATH_MARK: &str = ".$";

/// Writes every reference that has only one meaning between braces.
pub(super) fn add_braces(plan: &mut Plan, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanFix> {
    let entries: Vec<Option<&CatalogueEntry>> =
        plan.steps.iter().map(|step| crate::check::find_capability(step, catalogue, author)).collect();
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
            let new = visited.visit_parameter(unmarked, value, schema);
            let is_reference = new.as_ref().is_some_and(|new| new.as_str().is_some_and(|text| text.starts_with("{{")));
            let name = if is_reference { unmarked } else { name };
            object.insert(name, new.unwrap_or_else(|| value.clone()));
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
