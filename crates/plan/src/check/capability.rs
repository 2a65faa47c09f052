//! Finds the capability that a step calls.

use reknit_protocol::Step;

use super::{Code, PlanAuthor, PlanLocation, PlanProblem};
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::hint::{listed, suggestion};

/// The capability that a step calls, or the problem with its name.
pub(super) fn find<'c>(
    step: &Step,
    location: PlanLocation,
    catalogue: &'c Catalogue,
    author: PlanAuthor,
) -> Result<&'c CatalogueEntry, PlanProblem> {
    let name = step.tool.as_str();
    let Some(tool) = catalogue.tool(name) else { return Err(unknown_tool(step, location, catalogue)) };
    let names: Vec<&str> =
        tool.capabilities.iter().filter(|entry| is_visible(entry, author)).map(CatalogueEntry::name).collect();
    let location = location.key("metadata").key("capability");
    let problem = |code, message, hint| Err(PlanProblem::new(code, location, message).with_hint(hint));
    let Some(wanted) = step.capability() else {
        let message = format!("the step does not say which capability of `{name}` to call");
        return problem(Code::UnknownCapability, message, Some(listed(&names)));
    };
    match tool.entry(wanted) {
        Some(CatalogueEntry { withheld: Some(reason), .. }) => {
            problem(Code::Withheld, format!("`{wanted}` of `{name}` is withheld: {reason}"), None)
        }
        Some(entry) if is_visible(entry, author) => match entry.schema_problem() {
            None => Ok(entry),
            Some(reason) => {
                let message = format!("the schema of `{wanted}` of `{name}` cannot be used: {reason}");
                problem(Code::UnusableSchema, message, None)
            }
        },
        Some(_) => {
            let message = format!("`{wanted}` of `{name}` is not among the capabilities that were offered");
            problem(Code::NotShown, message, Some(listed(&names)))
        }
        None => {
            let message = format!("`{name}` has no capability `{wanted}`");
            problem(Code::UnknownCapability, message, Some(suggestion(wanted, &names)))
        }
    }
}

fn is_visible(entry: &CatalogueEntry, author: PlanAuthor) -> bool {
    (author == PlanAuthor::Person || !entry.capability.internal) && entry.withheld.is_none()
}

fn unknown_tool(step: &Step, location: PlanLocation, catalogue: &Catalogue) -> PlanProblem {
    let tool = step.tool.as_str();
    let problem =
        |code, message, hint| PlanProblem::new(code, location.key("agent_name"), message).with_hint(Some(hint));
    let Some(wanted) = step.capability().filter(|_| tool.is_empty()) else {
        let names: Vec<&str> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
        return problem(Code::UnknownTool, format!("there is no tool `{tool}`"), suggestion(tool, &names));
    };
    let having = catalogue.tools.iter().filter(|tool| tool.entry(wanted).is_some());
    let names: Vec<String> = having.map(|tool| format!("{}/{wanted}", tool.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        let all = catalogue.tools.iter().flat_map(|tool| &tool.capabilities).map(CatalogueEntry::name);
        let hint = suggestion(wanted, &all.collect::<Vec<_>>());
        return problem(Code::UnknownCapability, format!("no tool has a capability `{wanted}`"), hint);
    }
    problem(Code::AmbiguousTool, format!("several tools have the capability `{wanted}`"), listed(&names))
}

impl CatalogueEntry {
    fn name(&self) -> &str {
        self.capability.name.as_str()
    }
}
