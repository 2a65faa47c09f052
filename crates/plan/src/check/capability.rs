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
    let agent = step.tool.as_str();
    let Some(tool) = catalogue.tool(agent) else { return Err(unknown_tool(step, location, catalogue)) };
    let names: Vec<&str> =
        tool.capabilities.iter().filter(|entry| is_visible(entry, author)).map(CatalogueEntry::name).collect();
    let location = location.key("metadata").key("capability");
    let Some(wanted) = step.capability() else {
        let message = format!("the step does not say which capability of `{agent}` to call");
        return Err(PlanProblem::new(Code::UnknownCapability, location, message).with_hint(Some(listed(&names))));
    };
    match tool.entry(wanted) {
        Some(CatalogueEntry { withheld: Some(reason), .. }) => {
            let message = format!("`{wanted}` of `{agent}` is withheld: {reason}");
            Err(PlanProblem::new(Code::Withheld, location, message))
        }
        Some(entry) if is_visible(entry, author) => match entry.schema_problem() {
            None => Ok(entry),
            Some(problem) => {
                let message = format!("the schema of `{wanted}` of `{agent}` cannot be used: {problem}");
                Err(PlanProblem::new(Code::UnusableSchema, location, message))
            }
        },
        Some(_) => {
            let message = format!("`{wanted}` of `{agent}` is not among the capabilities that were offered");
            Err(PlanProblem::new(Code::NotShown, location, message).with_hint(Some(listed(&names))))
        }
        None => {
            let message = format!("`{agent}` has no capability `{wanted}`");
            Err(PlanProblem::new(Code::UnknownCapability, location, message)
                .with_hint(Some(suggestion(wanted, &names))))
        }
    }
}

fn is_visible(entry: &CatalogueEntry, author: PlanAuthor) -> bool {
    let is_shown = match author {
        PlanAuthor::Person => true,
        PlanAuthor::Model => !entry.capability.internal,
    };
    is_shown && entry.withheld.is_none()
}

fn unknown_tool(step: &Step, location: PlanLocation, catalogue: &Catalogue) -> PlanProblem {
    let agent = step.tool.as_str();
    let location = location.key("agent_name");
    let Some(wanted) = step.capability().filter(|_| agent.is_empty()) else {
        let names: Vec<&str> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
        let message = format!("there is no tool `{agent}`");
        return PlanProblem::new(Code::UnknownTool, location, message).with_hint(Some(suggestion(agent, &names)));
    };
    let having = catalogue.tools.iter().filter(|tool| tool.entry(wanted).is_some());
    let names: Vec<String> = having.map(|tool| format!("{}/{wanted}", tool.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        let names: Vec<&str> =
            catalogue.tools.iter().flat_map(|tool| &tool.capabilities).map(CatalogueEntry::name).collect();
        let message = format!("no tool has a capability `{wanted}`");
        return PlanProblem::new(Code::UnknownCapability, location, message)
            .with_hint(Some(suggestion(wanted, &names)));
    }
    let message = format!("several tools have the capability `{wanted}`");
    PlanProblem::new(Code::AmbiguousTool, location, message).with_hint(Some(listed(&names)))
}

impl CatalogueEntry {
    fn name(&self) -> &str {
        self.capability.name.as_str()
    }
}
