//! The tools that clients are shown, and what each of them does.

use std::collections::HashMap;

use reknit::runtime::NamedAgent;
use reknit_engine::{add_repeat_argument, needs_repeat_reason, tool_name};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{CapabilityName, SideEffect, ToolName, Value};
use rmcp::model::{Tool, ToolAnnotations};

use crate::own_tools::{OwnTool, input_schema};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offering {
    /// Every configured tool, and those that run requests and plans.
    EveryTool,
    /// Only the tools that find others, describe them, and run plans: for catalogues that do not fit into a prompt.
    Plans,
    /// The capabilities under their own names, as if the client were connected to their server, and the tool that returns the
    /// result of a call that waited for a person.
    OwnNames,
}

/// What a tool does that clients are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Offered {
    Capability(OfferedCapability),
    Own(OwnTool),
    /// It lets the agent with this name work on a task.
    Agent(String),
}

/// A capability under the name that clients are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedCapability {
    pub(crate) tool: ToolName,
    pub(crate) capability: CapabilityName,
    pub(crate) only_reads: bool,
    /// The argument that states why a call is repeated, if a repeated call needs a reason.
    pub(crate) repeat_argument: Option<String>,
}

/// All tools that clients are shown, in order.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Tool>,
    offered: HashMap<String, Offered>,
    offering: Offering,
}

impl Offer {
    /// The tools for a catalogue. `class_of` says what the calls of a capability change.
    pub(crate) fn new(
        catalogue: &Catalogue,
        class_of: impl Fn(&CatalogueTool, &CatalogueEntry) -> SideEffect,
        (own, agents): (&[OwnTool], &[NamedAgent]),
        offering: Offering,
    ) -> Self {
        let mut offer = Self { tools: Vec::new(), offered: HashMap::new(), offering };
        if offering == Offering::OwnNames {
            // Those of the server come first: they keep their names.
            offer.add_capabilities(catalogue, class_of);
            offer.add_own_tools(own);
            return offer;
        }
        offer.add_own_tools(own);
        for agent in agents {
            offer.add_agent(agent);
        }
        if offering == Offering::EveryTool {
            offer.add_capabilities(catalogue, class_of);
        }
        offer
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Offered> {
        self.offered.get(name)
    }

    /// The name under which clients are shown a tool of Reknit.
    pub(crate) fn name_of(&self, own: OwnTool) -> &str {
        let found = self.offered.iter().find(|(_, offered)| **offered == Offered::Own(own));
        found.map_or(own.as_str(), |(name, _)| name)
    }

    fn add_own_tools(&mut self, own: &[OwnTool]) {
        for tool in own {
            let mut definition = tool.definition();
            if self.offered.contains_key(definition.name.as_ref()) {
                definition.name = tool_name("reknit", tool.as_str(), |name| self.offered.contains_key(name)).into();
            }
            self.add(definition, Offered::Own(*tool));
        }
    }

    fn add_capabilities(
        &mut self,
        catalogue: &Catalogue,
        class_of: impl Fn(&CatalogueTool, &CatalogueEntry) -> SideEffect,
    ) {
        for tool in &catalogue.tools {
            for entry in tool.visible_capabilities() {
                self.add_capability(tool, entry, class_of(tool, entry));
            }
        }
    }

    fn add(&mut self, tool: Tool, offered: Offered) {
        self.offered.insert(tool.name.to_string(), offered);
        self.tools.push(tool);
    }

    fn add_agent(&mut self, agent: &NamedAgent) {
        let name = tool_name("agent", &agent.name, |name| self.offered.contains_key(name));
        let usual = || format!("Lets the agent `{}` work on a task, and returns its report.", agent.name);
        let description = Some(&agent.agent.description).filter(|text| !text.is_empty()).cloned().unwrap_or_else(usual);
        let task = Value::from([("type", "string".into()), ("description", "What to do, in plain language.".into())]);
        let schema = Value::from([
            ("properties", Value::from([("task", task)])),
            ("required", Value::Array(vec!["task".into()])),
        ]);
        let shown = Tool::new(name, description, input_schema(&schema))
            .with_annotations(ToolAnnotations::new().read_only(false));
        self.add(shown, Offered::Agent(agent.name.clone()));
    }

    fn add_capability(&mut self, tool: &CatalogueTool, entry: &CatalogueEntry, class: SideEffect) {
        let capability = entry.capability.name.clone();
        let name = match self.offering {
            Offering::OwnNames if !self.offered.contains_key(capability.as_str()) => capability.to_string(),
            _ => tool_name(tool.name.as_str(), capability.as_str(), |name| self.offered.contains_key(name)),
        };
        let mut schema = entry.json_schema().unwrap_or_else(|| Value::Object(reknit_protocol::Object::new()));
        let repeat_argument = needs_repeat_reason(class).then(|| add_repeat_argument(&mut schema)).flatten();
        let only_reads = class == SideEffect::Read;
        let own = &entry.capability.description;
        let description = if own.is_empty() { &tool.description } else { own }.clone();
        let shown = Tool::new(name, description, input_schema(&schema)).with_annotations(annotations(class));
        self.add(
            shown,
            Offered::Capability(OfferedCapability { tool: tool.name.clone(), capability, only_reads, repeat_argument }),
        );
    }
}

/// What the side effect of a call means for a client that decides by it whether to ask its user.
fn annotations(class: SideEffect) -> ToolAnnotations {
    let is_repeatable = matches!(class, SideEffect::Read | SideEffect::Idempotent);
    ToolAnnotations::new().read_only(class == SideEffect::Read).destructive(!is_repeatable).idempotent(is_repeatable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(offering: Offering) -> Offer {
        let tools = r#"{"shop": [{"name": "order", "description": "Orders."}, {"name": "price/of"}],
                        "bank": [{"name": "hidden", "internal": true}]}"#;
        let catalogue = Catalogue::from_value(&Value::parse(tools).unwrap()).unwrap();
        let class = |_: &CatalogueTool, entry: &CatalogueEntry| match entry.capability.name.as_str() {
            "order" => SideEffect::Unsafe,
            _ => SideEffect::Read,
        };
        Offer::new(&catalogue, class, (&[OwnTool::SearchTools, OwnTool::RunPlan], &[]), offering)
    }

    fn names(offer: &Offer) -> Vec<&str> {
        offer.tools.iter().map(|tool| tool.name.as_ref()).collect()
    }

    #[test]
    fn every_visible_capability_is_offered_beside_the_tools_of_reknit() {
        assert_eq!(names(&offer(Offering::EveryTool)), ["search_tools", "run_plan", "shop__order", "shop__price_of"]);
        assert_eq!(names(&offer(Offering::Plans)), ["search_tools", "run_plan"]);
    }

    #[test]
    fn capabilities_under_their_own_names_come_before_the_tools_of_reknit_and_push_their_names_aside() {
        let tools = r#"{"shop": [{"name": "order.new"}, {"name": "run_plan"}]}"#;
        let catalogue = Catalogue::from_value(&Value::parse(tools).unwrap()).unwrap();
        let own = [OwnTool::SearchTools, OwnTool::RunPlan];
        let offer = Offer::new(&catalogue, |_, _| SideEffect::Read, (&own, &[]), Offering::OwnNames);
        assert_eq!(names(&offer), ["order.new", "run_plan", "search_tools", "reknit__run_plan"]);
        assert_eq!(offer.find("reknit__run_plan"), Some(&Offered::Own(OwnTool::RunPlan)));
        assert_eq!(offer.name_of(OwnTool::RunPlan), "reknit__run_plan");
    }

    #[test]
    fn clients_are_told_what_a_call_changes_and_how_to_repeat_it() {
        let offer = offer(Offering::EveryTool);
        let hints = |at: usize| offer.tools[at].annotations.clone().unwrap();
        assert_eq!((hints(2).read_only_hint, hints(2).destructive_hint), (Some(false), Some(true)));
        assert_eq!((hints(3).read_only_hint, hints(3).idempotent_hint), (Some(true), Some(true)));
        assert!(offer.tools[2].input_schema["properties"].get("repeat_reason").is_some());
        assert_eq!(offer.tools[3].input_schema["type"], "object");
    }
}
