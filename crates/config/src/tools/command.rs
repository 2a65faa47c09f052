//! The commands of `[[command]]`.

use std::path::PathBuf;

use reknit_protocol::SideEffect;
use reknit_tools::{CommandInput, CommandOptions, CommandTool, SandboxMode};

use super::defined::{defined, invalid};
use super::{ConfiguredSource, ToolEntry, sandbox};
use crate::api_keys::KeySource;
use crate::error::ConfigError;

/// The variables that every command gets.
const USUAL_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

pub(super) fn tool(tool: &mut ToolEntry<'_>) -> Result<ConfiguredSource, ConfigError> {
    let ToolEntry { entry, name, environment, .. } = *tool;
    let mut options = CommandOptions::new(defined(entry, name, SideEffect::Undeclared)?, entry.texts("command"));
    options.stdin = match entry.text("stdin") {
        None => CommandInput::Empty,
        Some("json") => CommandInput::Json,
        Some(text) => CommandInput::Text(text.to_owned()),
    };
    options.time_limit = entry.get("time");
    options.max_output = entry.get("max-bytes").unwrap_or(options.max_output);
    options.folder = entry.text("folder").map(PathBuf::from);
    options.output = entry.get("output");
    options.sandbox = sandbox(entry, SandboxMode::Off)?;
    let usual = USUAL_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), environment(name)?.into())));
    options.environment = usual.collect();
    for variable in entry.texts("environment") {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(entry.hidden("environment", "write the names of variables, without values"));
        }
        match environment(&variable) {
            Some(value) => {
                options.environment.push((variable.clone(), value.into()));
                tool.keys.push(KeySource::Variable(variable));
            }
            None => tool.keys.push(KeySource::UnsetVariable(variable)),
        }
    }
    let command = CommandTool::new(options).map_err(|error| invalid(entry, &error))?;
    Ok(ConfiguredSource::Command(Box::new(command)))
}
