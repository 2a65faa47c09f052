//! Reads an agent file and the files of the agents that it may call.

use std::path::{Path, PathBuf};

use reknit_engine::SessionRules;
use reknit_runtime::agent::Agent;
use reknit_runtime::config::check_regular_file;
use reknit_runtime::{AgentStartError, NamedAgent};

use crate::output::{Failure, Input};
use crate::setup::{MODEL_HINT, schema_file};

const MAX_BYTES: usize = 1 << 20;

/// An agent file, with those of the agents that it may call.
#[derive(Debug)]
pub(crate) struct AgentFile {
    /// The file name without its extension.
    pub(crate) name: String,
    pub(crate) agent: Agent,
    pub(crate) agents: Vec<AgentFile>,
    texts: Vec<String>,
}

impl AgentFile {
    /// Reads a file and all agent files that it names. `rules` are the defaults of their settings. Fails if agents call each
    /// other in a cycle.
    pub(crate) fn read(path: &Path, rules: &SessionRules) -> Result<Self, Failure> {
        Self::read_nested(path, rules, &mut Vec::new())
    }

    fn read_nested(path: &Path, rules: &SessionRules, callers: &mut Vec<(PathBuf, String)>) -> Result<Self, Failure> {
        let input = Input::File(path.to_owned());
        let text = input.read_regular_up_to(MAX_BYTES)?;
        let canonical = path.canonicalize().map_err(|source| Failure::Input { input, source })?;
        let file_name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if let Some(start) = callers.iter().position(|(caller, _)| *caller == canonical) {
            let cycle = callers.iter().skip(start).map(|(_, name)| name.as_str()).chain([file_name.as_str()]);
            let cycle = cycle.collect::<Vec<_>>().join(" -> ");
            return Err(Failure::usage(
                format!("agents call each other in a cycle: {cycle}"),
                "remove one of them from `agents` of its caller",
            ));
        }
        let mut texts = vec![text.clone()];
        let mut agent = Agent::read(&text, rules).map_err(|problems| Failure::Agent {
            path: path.to_owned(),
            problems: problems.iter().map(ToString::to_string).collect(),
        })?;
        // Paths in an agent file are relative to the file.
        let relative = |file: &str| path.parent().unwrap_or(Path::new("")).join(file);
        if let Some(file) = agent.schema_file.take() {
            let schema = relative(&file);
            check_regular_file(&schema)
                .map_err(|source| Failure::Input { input: Input::File(schema.clone()), source })?;
            let schema = schema_file::load(&schema)?.source().clone();
            texts.push(schema.to_string());
            agent.rules.report.schema = Some(schema);
        }
        callers.push((canonical, file_name));
        let agents = agent
            .agents
            .iter()
            .map(|file| Self::read_nested(&relative(file), rules, callers))
            .collect::<Result<_, _>>()?;
        callers.pop();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, agent, agents, texts })
    }

    /// The texts that define the agent: its file, and those of the agents that it may call.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let own = self.texts.iter().map(String::as_str);
        own.chain(self.agents.iter().flat_map(Self::texts)).collect()
    }

    /// The last model in the list of the agent, and of each agent that it may call.
    pub(crate) fn last_targets(&self) -> Vec<&str> {
        let own = self.agent.targets.iter().filter_map(|names| names.last()).map(String::as_str);
        own.chain(self.agents.iter().flat_map(Self::last_targets)).collect()
    }
}

pub(crate) fn named(file: AgentFile) -> NamedAgent {
    let AgentFile { name, agent, agents, .. } = file;
    NamedAgent { name, agent, agents: agents.into_iter().map(named).collect() }
}

pub(crate) fn start_failure(error: AgentStartError) -> Failure {
    let message = error.to_string();
    match error {
        AgentStartError::NoModel => Failure::usage(message, MODEL_HINT),
        AgentStartError::Unknown { known, .. } if known.is_empty() => Failure::usage(message, "none is configured"),
        AgentStartError::Unknown { known, .. } => Failure::usage(message, format!("available: {}", known.join(", "))),
        _ => Failure::message(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_targets_include_those_of_nested_agents() {
        let folder = std::env::temp_dir().join(format!("reknit-last-targets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("above.md", "---\ntargets: [a, b]\nagents: [below.md, free.md]\n---\nYou lead.\n");
        write("below.md", "---\ndescription: looks\ntargets: [local]\n---\nYou look.\n");
        write("free.md", "---\ndescription: thinks\n---\nYou think.\n");
        let file = AgentFile::read(&folder.join("above.md"), &SessionRules::default());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(file.unwrap().last_targets(), ["b", "local"]);
    }
}
