//! Corrects names of tools and capabilities where there is no doubt; the check reports the others.
//!
//! There is no doubt if only case and separators differ, and in a model's plan also if only one tool has the capability. A
//! person who names a tool means that tool: another one with the same capability may be another bank. A name with other
//! letters is suggested and never taken, because a wrong call cannot always be undone.

use std::fmt;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Plan, Step, StepId, Value};

use super::PlanAuthor;
use crate::catalogue::{Catalogue, CatalogueEntry, CatalogueTool};

/// A name that was corrected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameFix {
    /// The step.
    pub step: StepId,
    /// What the name belongs to.
    pub kind: NameKind,
    /// The name as the plan had it.
    pub before: String,
    /// The corrected name.
    pub after: String,
}

/// What a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A tool.
    Tool,
    /// A capability.
    Capability,
}

impl NameKind {
    /// The name in messages and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Capability => "capability",
        }
    }
}

impl fmt::Display for NameFix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, kind, before, after } = self;
        write!(out, "step `{step}`: corrected the {} `{before}` to `{after}`", kind.as_str())
    }
}

impl NameFix {
    /// The JSON form: `step`, `of`, `before`, `after`.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from([
            ("step", Value::from(self.step.as_str())),
            ("of", self.kind.as_str().into()),
            ("before", self.before.as_str().into()),
            ("after", self.after.as_str().into()),
        ]))
    }
}

/// Corrects the names in a plan where there is no doubt. A step that names no tool gets the only one that has its capability;
/// this is not a fix, because the plan leaves the tool open.
pub fn correct_names(plan: &mut Plan, catalogue: &Catalogue, author: PlanAuthor) -> Vec<NameFix> {
    plan.steps.iter_mut().flat_map(|step| correct_step(step, catalogue, author)).collect()
}

fn correct_step(step: &mut Step, catalogue: &Catalogue, author: PlanAuthor) -> Vec<NameFix> {
    let mut fixes = Vec::new();
    let id = step.step_id.clone();
    let fix = |kind, before: &str, after: &str| NameFix {
        step: id.clone(),
        kind,
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let agent = step.agent_name.as_str();
    if catalogue.tool(agent).is_none()
        && let Some(tool) = intended_tool(agent, step.capability(), catalogue, author)
    {
        if !agent.is_empty() {
            fixes.push(fix(NameKind::Tool, agent, tool.name.as_str()));
        }
        step.agent_name = tool.name.clone();
    }
    let Some(tool) = catalogue.tool(step.agent_name.as_str()) else { return fixes };
    let Some(wanted) = step.capability().filter(|wanted| tool.entry(wanted).is_none()) else { return fixes };
    if let Some(name) = only(capabilities_like(tool, wanted)).map(|entry| entry.capability.name.as_str()) {
        fixes.push(fix(NameKind::Capability, wanted, name));
        step.metadata.insert("capability", Value::from(name));
    }
    fixes
}

fn intended_tool<'a>(
    agent: &str,
    capability: Option<&str>,
    catalogue: &'a Catalogue,
    author: PlanAuthor,
) -> Option<&'a CatalogueTool> {
    let tools = || catalogue.tools.iter();
    if let Some(alike) = only(tools().filter(|tool| are_alike(tool.name.as_str(), agent))) {
        return Some(alike);
    }
    let capability = capability.filter(|_| author == PlanAuthor::Model || agent.is_empty())?;
    let mut having = tools().filter(|tool| tool.entry(capability).is_some()).peekable();
    match having.peek() {
        Some(_) => only(having),
        None if agent.is_empty() => only(tools().filter(|tool| capabilities_like(tool, capability).next().is_some())),
        None => None,
    }
}

fn capabilities_like<'a>(tool: &'a CatalogueTool, wanted: &str) -> impl Iterator<Item = &'a CatalogueEntry> {
    tool.capabilities.iter().filter(move |entry| are_alike(entry.capability.name.as_str(), wanted))
}

/// The only item; `None` if there are several.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}
