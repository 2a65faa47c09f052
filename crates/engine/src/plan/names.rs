//! Names that were meant and not hit. What is beyond doubt is put right and said; the rest is left for the check.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Plan, Step, Value};

use crate::catalogue::{Catalogue, Tool};

/// Puts right what is beyond doubt: a name that differs from one only in spelling, and a tool that was named wrongly
/// where only one tool has the capability. Gives a line for each.
pub fn correct_names(plan: &mut Plan, catalogue: &Catalogue) -> Vec<String> {
    plan.steps.iter_mut().flat_map(|step| correct_step(step, catalogue)).collect()
}

fn correct_step(step: &mut Step, catalogue: &Catalogue) -> Vec<String> {
    let mut repairs = Vec::new();
    let agent = step.agent_name.as_str();
    if catalogue.tool(agent).is_none()
        && let Some(tool) = meant_tool(agent, step.capability(), catalogue)
    {
        repairs.push(format!("step `{}`: took the tool `{}` for `{agent}`", step.step_id, tool.name));
        step.agent_name = tool.name.clone();
    }
    let Some(tool) = catalogue.tool(step.agent_name.as_str()) else { return repairs };
    let Some(wanted) = step.capability().filter(|wanted| tool.entry(wanted).is_none()) else { return repairs };
    let names = tool.capabilities.iter().map(|entry| entry.capability.name.as_str());
    if let Some(name) = only(names.filter(|name| are_alike(name, wanted))) {
        repairs.push(format!("step `{}`: took the capability `{name}` for `{wanted}`", step.step_id));
        step.metadata.insert("capability", Value::from(name));
    }
    repairs
}

fn meant_tool<'a>(agent: &str, capability: Option<&str>, catalogue: &'a Catalogue) -> Option<&'a Tool> {
    let alike = only(catalogue.tools.iter().filter(|tool| are_alike(tool.name.as_str(), agent)));
    alike.or_else(|| {
        let capability = capability?;
        only(catalogue.tools.iter().filter(|tool| tool.entry(capability).is_some()))
    })
}

/// The one there is; nothing if there are several.
fn only<T>(mut things: impl Iterator<Item = T>) -> Option<T> {
    let first = things.next()?;
    things.next().is_none().then_some(first)
}
