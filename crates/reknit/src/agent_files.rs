//! The file of an agent, and those of the agents that it may call.

use std::path::{Path, PathBuf};

use reknit_engine::SessionRules;
use reknit_runtime::agent::Agent;

use crate::failure::Failure;
use crate::input::Input;
use crate::schema_file;

/// An agent as its file has it, with the agents that it may call.
#[derive(Debug)]
pub(crate) struct AgentFile {
    /// The name of the file without its ending.
    pub(crate) name: String,
    pub(crate) agent: Agent,
    pub(crate) agents: Vec<AgentFile>,
}

impl AgentFile {
    /// Reads a file and all that it leads to. Agents that call each other in a circle are refused.
    /// What they do not say is as `rules` have it.
    pub(crate) fn read(path: &Path, rules: &SessionRules) -> Result<Self, Failure> {
        Self::read_below(path, rules, &mut Vec::new())
    }

    fn read_below(path: &Path, rules: &SessionRules, above: &mut Vec<(PathBuf, String)>) -> Result<Self, Failure> {
        let input = Input::File(path.to_owned());
        let text = input.read_text()?;
        let place = path.canonicalize().map_err(|source| Failure::Input { input, source })?;
        let shown = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if let Some(start) = above.iter().position(|(known, _)| *known == place) {
            let circle = above.iter().skip(start).map(|(_, name)| name.as_str()).chain([shown.as_str()]);
            return Err(Failure::Usage {
                what: format!("agents call each other in a circle: {}", circle.collect::<Vec<_>>().join(" -> ")),
                hint: Some("take one of them out of `agents`".to_owned()),
            });
        }
        let mut agent = Agent::read(&text, rules).map_err(|problems| Failure::Agent {
            path: path.to_owned(),
            problems: problems.iter().map(ToString::to_string).collect(),
        })?;
        // As the agent names them: beside the agent, wherever it is called from.
        let beside = |file: &str| path.parent().unwrap_or(Path::new("")).join(file);
        if let Some(file) = agent.schema_file.take() {
            agent.rules.report.schema = Some(schema_file::load(&beside(&file))?.source().clone());
        }
        above.push((place, shown));
        let agents =
            agent.agents.iter().map(|file| Self::read_below(&beside(file), rules, above)).collect::<Result<_, _>>()?;
        above.pop();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, agent, agents })
    }

    /// The models that it or an agent that it may call asks last.
    pub(crate) fn last_targets(&self) -> Vec<&str> {
        let own = self.agent.targets.iter().filter_map(|names| names.last()).map(String::as_str);
        own.chain(self.agents.iter().flat_map(Self::last_targets)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_asked_last_is_known_of_every_agent_that_may_be_called() {
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
