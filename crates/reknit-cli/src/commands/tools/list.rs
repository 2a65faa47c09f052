//! `reknit tools list` and `reknit tools search`.

use std::process::ExitCode;

use reknit_plan::{CatalogueEntry, CatalogueTool};
use reknit_protocol::{Object, Value};
use reknit_runtime::config::Config;

use super::{find, known_tools};
use crate::output::{Failure, one_line, print_data, print_message, table};
use crate::setup::{SetupArguments, entries};

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
    print_data(&table(&rows, None))?;
    Ok(ExitCode::SUCCESS)
}
