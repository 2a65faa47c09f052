//! Which capability a step calls.

use reknit_protocol::Step;

use super::{Author, Code, PlanPlace, PlanProblem};
use crate::catalogue::{Catalogue, Entry};
use crate::hint::{listed, suggestion};

/// The capability that a step calls, or why there is none.
pub(super) fn find<'c>(
    step: &Step,
    place: PlanPlace,
    catalogue: &'c Catalogue,
    author: Author,
) -> Result<&'c Entry, PlanProblem> {
    let agent = step.agent_name.as_str();
    let Some(tool) = catalogue.tool(agent) else { return Err(no_tool(step, place, catalogue)) };
    let names: Vec<&str> = tool.capabilities.iter().filter(|entry| is_shown(entry, author)).map(Entry::name).collect();
    let place = place.key("metadata").key("capability");
    let Some(wanted) = step.capability() else {
        let message = format!("it does not say which capability of `{agent}` to call");
        return Err(PlanProblem::new(Code::UnknownCapability, place, message).hint(Some(listed(&names))));
    };
    match tool.entry(wanted) {
        Some(entry) if is_shown(entry, author) => Ok(entry),
        Some(_) => {
            let message = format!("`{wanted}` of `{agent}` is not among the capabilities that were offered");
            Err(PlanProblem::new(Code::NotShown, place, message).hint(Some(listed(&names))))
        }
        None => {
            let message = format!("`{agent}` has no capability `{wanted}`");
            Err(PlanProblem::new(Code::UnknownCapability, place, message).hint(Some(suggestion(wanted, &names))))
        }
    }
}

fn is_shown(entry: &Entry, author: Author) -> bool {
    match author {
        Author::Person => true,
        Author::Model => !entry.capability.internal,
    }
}

fn no_tool(step: &Step, place: PlanPlace, catalogue: &Catalogue) -> PlanProblem {
    let agent = step.agent_name.as_str();
    let place = place.key("agent_name");
    let Some(wanted) = step.capability().filter(|_| agent.is_empty()) else {
        let names: Vec<&str> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
        let message = format!("there is no tool `{agent}`");
        return PlanProblem::new(Code::UnknownTool, place, message).hint(Some(suggestion(agent, &names)));
    };
    let having = catalogue.tools.iter().filter(|tool| tool.entry(wanted).is_some());
    let names: Vec<String> = having.map(|tool| format!("{}/{wanted}", tool.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        let names: Vec<&str> = catalogue.tools.iter().flat_map(|tool| &tool.capabilities).map(Entry::name).collect();
        let message = format!("no tool has a capability `{wanted}`");
        return PlanProblem::new(Code::UnknownCapability, place, message).hint(Some(suggestion(wanted, &names)));
    }
    let message = format!("several tools have the capability `{wanted}`");
    PlanProblem::new(Code::AmbiguousTool, place, message).hint(Some(listed(&names)))
}

impl Entry {
    fn name(&self) -> &str {
        self.capability.name.as_str()
    }
}
