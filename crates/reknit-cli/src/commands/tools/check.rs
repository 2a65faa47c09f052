//! `reknit tools check`: lists the capabilities of the tools and their side effect classes.

use std::process::ExitCode;

use reknit_protocol::SideEffect;

use super::config_with_tools;
use crate::output::{Failure, one_line, print_data, print_message};
use crate::setup::{SetupArguments, discover_tools};

const NAME_COLUMNS: usize = 120;

/// Lists the capabilities of each tool. The exit status is 1 if a tool cannot be used.
pub(crate) async fn run(arguments: &SetupArguments, json: bool) -> Result<ExitCode, Failure> {
    let config = config_with_tools(arguments)?;
    let found = discover_tools(&config, arguments.files.config.as_deref()).await?;
    config.check_effect_names(&found.catalogue)?;
    let mut undeclared = 0;
    if json {
        print_data(&format!("{}\n", found.catalogue.to_value()))?;
    }
    for tool in found.catalogue.tools.iter().filter(|_| !json) {
        print_data(&format!("{}\n", one_line(tool.name.as_str(), NAME_COLUMNS)))?;
        for entry in &tool.capabilities {
            let (agent, name) = (tool.name.as_str(), entry.capability.name.as_str());
            let class = config.policy.effects.class(agent, name, entry.capability.effect);
            let source = if class == entry.capability.effect { "" } else { " (by configuration)" };
            let withheld = if entry.withheld.is_some() { ", withheld" } else { "" };
            undeclared += usize::from(class == SideEffect::Undeclared);
            print_data(&format!("  {}: {class}{source}{withheld}\n", one_line(name, NAME_COLUMNS)))?;
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
    if undeclared > 0 {
        print_message(&format!(
            "\nnote: capabilities without a side effect class: {undeclared}; after a crash they are called again with the same idempotency key\n\
             hint: declare it in reknit.toml: `[effects.classes]` with `\"tool/capability\" = \"read\"`\n"
        ));
    }
    Ok(if found.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
