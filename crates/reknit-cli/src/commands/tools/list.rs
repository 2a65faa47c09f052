//! `reknit tools list`, `reknit tools search` and `reknit tools check`.

use std::process::ExitCode;

use reknit_plan::{CatalogueEntry, CatalogueTool};
use reknit_protocol::{Object, SideEffect, Value};
use reknit_runtime::config::Config;

use super::{config_with_tools, find, known_tools};
use crate::output::{Failure, one_line, print_data, print_message, table};
use crate::setup::{SetupArguments, discover_tools, entries};

const NAME_COLUMNS: usize = 60;
const DESCRIPTION_COLUMNS: usize = 80;

pub(super) async fn list(arguments: &SetupArguments, json: bool) -> Result<ExitCode, Failure> {
    let (config, catalogue) = known_tools(arguments).await?;
    let all: Vec<(&CatalogueTool, &CatalogueEntry)> = entries(&catalogue).collect();
    if all.is_empty() {
        print_message("no tool has a capability that can be used; `reknit tools check` says why\n");
    }
    print(&config, &all, json)
}

/// Finds capabilities by words. The exit status is 1 if there is none.
pub(super) async fn search(
    words: &str,
    limit: usize,
    arguments: &SetupArguments,
    json: bool,
) -> Result<ExitCode, Failure> {
    let (config, catalogue) = known_tools(arguments).await?;
    let found: Vec<(&CatalogueTool, &CatalogueEntry)> =
        catalogue.matches(words).iter().take(limit).filter_map(|key| find(&catalogue, key).ok()).collect();
    if found.is_empty() {
        print_message(&format!("no capability matches `{}`\n", one_line(words, NAME_COLUMNS)));
        return Ok(ExitCode::from(1));
    }
    print(&config, &found, json)
}

fn print(config: &Config, entries: &[(&CatalogueTool, &CatalogueEntry)], json: bool) -> Result<ExitCode, Failure> {
    let class = |tool: &CatalogueTool, entry: &CatalogueEntry| {
        let (agent, name) = (tool.name.as_str(), entry.capability.name.as_str());
        config.policy.effects.class(agent, name, entry.capability.effect).to_string()
    };
    if json {
        for (tool, entry) in entries {
            let mut shown = Object::from([
                ("capability", Value::from(tool.key(entry))),
                ("class", class(tool, entry).into()),
                ("description", entry.capability.description.as_str().into()),
            ]);
            if let Some(reason) = &entry.withheld {
                shown.insert("withheld", reason.as_str());
            }
            print_data(&format!("{shown}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for (tool, entry) in entries {
        let description = entry.capability.description.lines().next().unwrap_or_default();
        let withheld = if entry.withheld.is_some() { ", withheld" } else { "" };
        rows.push([
            one_line(&tool.key(entry), NAME_COLUMNS),
            class(tool, entry) + withheld,
            one_line(description.trim(), DESCRIPTION_COLUMNS),
        ]);
    }
    print_data(&table(&rows, None)).map(|()| ExitCode::SUCCESS)
}

const CHECKED_NAME_COLUMNS: usize = 120;

/// Lists the capabilities of each tool. The exit status is 1 if a tool cannot be used.
pub(super) async fn check(arguments: &SetupArguments, json: bool) -> Result<ExitCode, Failure> {
    let config = config_with_tools(arguments)?;
    let found = discover_tools(&config, arguments.files.config.as_deref()).await?;
    config.check_effect_names(&found.catalogue)?;
    let (mut undeclared, mut unknown) = (0, 0);
    if json {
        print_data(&format!("{}\n", found.catalogue.to_value()))?;
    }
    for tool in found.catalogue.tools.iter().filter(|_| !json) {
        print_data(&format!("{}\n", one_line(tool.name.as_str(), CHECKED_NAME_COLUMNS)))?;
        for entry in &tool.capabilities {
            let (agent, name) = (tool.name.as_str(), entry.capability.name.as_str());
            let class = config.policy.effects.class(agent, name, entry.capability.effect);
            let source = if class == entry.capability.effect { "" } else { " (by configuration)" };
            let withheld = if entry.withheld.is_some() { ", withheld" } else { "" };
            undeclared += usize::from(class == SideEffect::Undeclared);
            unknown += usize::from(class == SideEffect::Unknown);
            print_data(&format!("  {}: {class}{source}{withheld}\n", one_line(name, CHECKED_NAME_COLUMNS)))?;
        }
    }
    for tool in config.tools.iter().filter(|_| !json) {
        if let Some(sandbox) = tool.sandbox() {
            let line = format!("tool `{}`: its program is {}", tool.name, sandbox.describe());
            print_message(&format!("note: {}\n", one_line(&line, usize::MAX)));
        }
    }
    for problem in &found.problems {
        print_message(&format!("error: {}\n", one_line(&problem.to_string(), usize::MAX)));
    }
    for note in &found.notes {
        print_message(&format!("note: {}\n", one_line(&note.to_string(), usize::MAX)));
    }
    let notes = [
        (undeclared, "that declare no side effect class", "it is called again with the same idempotency key"),
        (unknown, "of which nothing is known", "a person is asked before it is called again"),
    ];
    for (count, whose, then) in notes.iter().filter(|(count, ..)| *count > 0) {
        print_message(&format!("\nnote: capabilities {whose}: {count}; if the outcome of a call is unknown, {then}\n"));
    }
    if undeclared + unknown > 0 {
        let hint = "declare the class in reknit.toml: `[effects.classes]` with `\"tool/capability\" = \"read\"`";
        print_message(&format!("hint: {hint}\n"));
    }
    Ok(if found.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
