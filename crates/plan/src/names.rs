//! Names that were meant and not hit. What is beyond doubt is put right and said; the rest is left for the check.
//!
//! Beyond doubt is a difference in case and separators alone, and in a model's plan a tool where only one has the capability.
//! A person who names a tool means that one: another that can do the same is another bank. A capability with other letters may
//! be another capability, and what is called by mistake may not be undone: it is suggested and never taken.

use std::fmt;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Plan, Step, StepId, Value};

use super::Author;
use crate::catalogue::{Catalogue, Entry, Tool};

/// A name that was put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameFix {
    /// In which step.
    pub step: StepId,
    /// Of what.
    pub of: Named,
    /// As it was written.
    pub before: String,
    /// As it is.
    pub after: String,
}

/// What a name is a name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A tool.
    Tool,
    /// A capability.
    Capability,
}

impl Named {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Capability => "capability",
        }
    }
}

impl fmt::Display for NameFix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, of, before, after } = self;
        write!(out, "step `{step}`: took the {} `{after}` for `{before}`", of.as_str())
    }
}

impl NameFix {
    /// The JSON form: `step`, `of`, `before`, `after`.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from([
            ("step", Value::from(self.step.as_str())),
            ("of", self.of.as_str().into()),
            ("before", self.before.as_str().into()),
            ("after", self.after.as_str().into()),
        ]))
    }
}

/// Puts right what is beyond doubt: a name that differs from one only in spelling, and a tool that a model named wrongly
/// where only one tool has the capability. A step that names no tool gets the only one that has its capability; that is
/// what it says, and no fix.
pub fn correct_names(plan: &mut Plan, catalogue: &Catalogue, author: Author) -> Vec<NameFix> {
    plan.steps.iter_mut().flat_map(|step| correct_step(step, catalogue, author)).collect()
}

fn correct_step(step: &mut Step, catalogue: &Catalogue, author: Author) -> Vec<NameFix> {
    let mut fixes = Vec::new();
    let id = step.step_id.clone();
    let fix = |of, before: &str, after: &str| NameFix {
        step: id.clone(),
        of,
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let agent = step.agent_name.as_str();
    if catalogue.tool(agent).is_none()
        && let Some(tool) = meant_tool(agent, step.capability(), catalogue, author)
    {
        if !agent.is_empty() {
            fixes.push(fix(Named::Tool, agent, tool.name.as_str()));
        }
        step.agent_name = tool.name.clone();
    }
    let Some(tool) = catalogue.tool(step.agent_name.as_str()) else { return fixes };
    let Some(wanted) = step.capability().filter(|wanted| tool.entry(wanted).is_none()) else { return fixes };
    if let Some(name) = only(spelt_like(tool, wanted)).map(|entry| entry.capability.name.as_str()) {
        fixes.push(fix(Named::Capability, wanted, name));
        step.metadata.insert("capability", Value::from(name));
    }
    fixes
}

fn meant_tool<'a>(agent: &str, capability: Option<&str>, catalogue: &'a Catalogue, author: Author) -> Option<&'a Tool> {
    let tools = || catalogue.tools.iter();
    if let Some(alike) = only(tools().filter(|tool| are_alike(tool.name.as_str(), agent))) {
        return Some(alike);
    }
    let capability = capability.filter(|_| author == Author::Model || agent.is_empty())?;
    let mut having = tools().filter(|tool| tool.entry(capability).is_some()).peekable();
    match having.peek() {
        Some(_) => only(having),
        None if agent.is_empty() => only(tools().filter(|tool| spelt_like(tool, capability).next().is_some())),
        None => None,
    }
}

fn spelt_like<'a>(tool: &'a Tool, wanted: &str) -> impl Iterator<Item = &'a Entry> {
    tool.capabilities.iter().filter(move |entry| are_alike(entry.capability.name.as_str(), wanted))
}

/// The one there is; nothing if there are several.
fn only<T>(mut things: impl Iterator<Item = T>) -> Option<T> {
    let first = things.next()?;
    things.next().is_none().then_some(first)
}
