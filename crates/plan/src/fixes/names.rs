//! Corrects names of tools and capabilities where there is no doubt; the check reports the others.
//!
//! There is no doubt if only case and separators differ, and in a model's plan also if only one tool has the capability. A
//! person who names a tool means that tool: another one with the same capability may be another bank. A name with other
//! letters is suggested and never taken, because a wrong call cannot always be undone.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Plan, Step, Value};

use super::{PlanFix, PlanFixKind};
use crate::PlanAuthor;
use crate::catalogue::{Catalogue, CatalogueEntry, CatalogueTool};
use crate::verify_call::{set_tool, verify_call};

/// What models put before the name of a tool.
const PREFIXES: [&str; 6] = ["functions.", "function.", "tools.", "tool.", "functions/", "tools/"];

/// Corrects the names in a plan where there is no doubt. A step that names no tool gets the only one that has its capability;
/// this is not a fix, because the plan leaves the tool open.
pub(super) fn correct(plan: &mut Plan, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanFix> {
    let mut fixes = Vec::new();
    for step in plan.steps.iter_mut().filter(|step| !step.is_computed()) {
        fixes.extend(correct_step(step, catalogue, author));
        fixes.extend(correct_verify(step, catalogue, author));
    }
    fixes
}

/// Corrects the names in the `verify` of a step.
fn correct_verify(step: &mut Step, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanFix> {
    let Some(mut call) = verify_call(step) else { return Vec::new() };
    let fixes = correct_step(&mut call, catalogue, author);
    if !call.tool.as_str().is_empty() {
        set_tool(step, &call);
    }
    fixes
}

fn correct_step(step: &mut Step, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanFix> {
    let mut fixes = remove_decoration(step, catalogue);
    let id = step.step_id.clone();
    let fix = |kind, before: &str, after: &str| PlanFix::new(&id, kind, before, after);
    let name = step.tool.as_str();
    if catalogue.tool(name).is_none()
        && let Some(tool) = intended_tool(name, step.capability(), catalogue, author)
    {
        if !name.is_empty() {
            fixes.push(fix(PlanFixKind::Tool, name, tool.name.as_str()));
        }
        step.tool = tool.name.clone();
    }
    let Some(tool) = catalogue.tool(step.tool.as_str()) else { return fixes };
    let Some(wanted) = step.capability().filter(|wanted| tool.entry(wanted).is_none()) else { return fixes };
    if let Some(name) = only(capabilities_like(tool, wanted)).map(|entry| entry.capability.name.as_str()) {
        fixes.push(fix(PlanFixKind::Capability, wanted, name));
        step.metadata.insert("capability", Value::from(name));
    }
    fixes
}

/// Removes what models put around the name of a tool: `functions.get_quote`, `get_quote()`. `stocks.get_quote` is the
/// capability of a tool. A name that the catalogue has stays as it is.
fn remove_decoration(step: &mut Step, catalogue: &Catalogue) -> Vec<PlanFix> {
    let mut fixes = Vec::new();
    let name = step.tool.as_str().to_owned();
    if catalogue.tool(&name).is_none()
        && let Some(plain) = undecorated(&name)
    {
        fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Tool, &name, plain));
        step.tool = plain.into();
    }
    let is_known = |name: &str| catalogue.tools.iter().any(|tool| tool.entry(name).is_some());
    if let Some(wanted) = step.capability().map(str::to_owned).filter(|wanted| !is_known(wanted)) {
        let plain = undecorated(&wanted).unwrap_or(&wanted);
        let of_tool = plain.split_once(['.', '/']).filter(|(tool, name)| catalogue.entry(tool, name).is_some());
        let plain = match of_tool {
            Some((tool, name)) if [tool, ""].contains(&step.tool.as_str()) => {
                step.tool = tool.into();
                name
            }
            _ => plain,
        };
        if plain != wanted {
            fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Capability, &wanted, plain));
            step.metadata.insert("capability", plain);
        }
    }
    // A step that names only its capability, as if it were the tool.
    let name = step.tool.as_str().to_owned();
    if step.capability().is_none() && catalogue.tool(&name).is_none() && !name.is_empty() {
        let (tool, name) = name.split_once(['.', '/']).unwrap_or(("", &name));
        if catalogue.entry(tool, name).is_some() || tool.is_empty() && is_known(name) {
            fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Capability, "", name));
            step.metadata.insert("capability", name);
            step.tool = tool.into();
        }
    }
    fixes
}

/// The name without the decoration; `None` if it has none.
pub(super) fn undecorated(name: &str) -> Option<&str> {
    let without_prefix = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let plain = without_prefix.unwrap_or(name);
    let plain = plain.strip_suffix("()").unwrap_or(plain).trim();
    (plain != name && !plain.is_empty()).then_some(plain)
}

fn intended_tool<'a>(
    name: &str,
    capability: Option<&str>,
    catalogue: &'a Catalogue,
    author: PlanAuthor,
) -> Option<&'a CatalogueTool> {
    let tools = || catalogue.tools.iter();
    if let Some(alike) = only(tools().filter(|tool| are_alike(tool.name.as_str(), name))) {
        return Some(alike);
    }
    let capability = capability.filter(|_| author == PlanAuthor::Model || name.is_empty())?;
    let mut having = tools().filter(|tool| tool.entry(capability).is_some()).peekable();
    match having.peek() {
        Some(_) => only(having),
        None if name.is_empty() => only(tools().filter(|tool| capabilities_like(tool, capability).next().is_some())),
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
