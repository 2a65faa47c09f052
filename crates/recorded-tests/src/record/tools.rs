//! Which tools a test has.

use reknit_plan::{Catalogue, CatalogueTool};

/// The tools that a plan, its policy or its calls name, by themselves or by a capability.
pub(super) fn used_tools(all: &Catalogue, calls: &[&str], texts: &[&str]) -> Catalogue {
    let is_named = |name: &str| texts.iter().any(|text| text.contains(name));
    let is_called = |tool: &str| calls.iter().any(|call| call.split_once('/').is_some_and(|(name, _)| name == tool));
    let is_used = |tool: &&CatalogueTool| {
        is_called(tool.name.as_str())
            || is_named(tool.name.as_str())
            || tool.capabilities.iter().any(|entry| is_named(entry.capability.name.as_str()))
    };
    Catalogue { tools: all.tools.iter().filter(is_used).cloned().collect() }
}

/// Adds the capabilities of another catalogue that this one does not have.
pub(super) fn add_tools(all: &mut Catalogue, other: &Catalogue) {
    for tool in &other.tools {
        match all.tools.iter_mut().find(|known| known.name == tool.name) {
            None => all.tools.push(tool.clone()),
            Some(known) => {
                for entry in &tool.capabilities {
                    if !known.capabilities.contains(entry) {
                        known.capabilities.push(entry.clone());
                    }
                }
            }
        }
    }
}

/// The capabilities, each as `tool/capability`.
pub(super) fn names_of(catalogue: &Catalogue) -> Vec<String> {
    let names = catalogue
        .tools
        .iter()
        .flat_map(|tool| tool.capabilities.iter().map(move |entry| format!("{}/{}", tool.name, entry.capability.name)));
    names.collect()
}
