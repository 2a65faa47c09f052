//! The agents of a test.

use std::path::Path;

use reknit_engine::{Policy, ReportFormat, SessionRules};
use reknit_plan::AgentAnnouncement;
use reknit_protocol::Value;
use reknit_runtime::agent::{Agent, AgentLimits};

use super::{TestStartError, read_text};

/// How deeply agents may call other agents.
const MAX_DEPTH: usize = 8;

/// An agent, wherever it is written.
#[derive(Debug)]
pub(super) struct AgentPart {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) prompt: String,
    pub(super) rules: SessionRules,
    pub(super) tools: Option<Vec<String>>,
    pub(super) targets: Option<Vec<String>>,
    /// Its own policy; that of the test if it has none.
    pub(super) policy: Option<Policy>,
    pub(super) limits: AgentLimits,
    pub(super) agents: Vec<AgentPart>,
}

impl AgentPart {
    /// The agent as a plan sees it whose steps run it.
    pub(super) fn announcement(&self) -> AgentAnnouncement {
        let report_type = if self.rules.report.format == ReportFormat::Json { "object" } else { "string" };
        AgentAnnouncement { name: self.name.clone(), description: self.description.clone(), report_type }
    }
}

/// Reads an agent file and those of the agents that it may call.
pub(super) fn read_agent_file(path: &Path, depth: usize) -> Result<AgentPart, TestStartError> {
    if depth > MAX_DEPTH {
        return Err(TestStartError::one(format!("`{}`: agents call each other without an end", path.display())));
    }
    let text = read_text(path)?;
    let mut agent = Agent::read(&text, &SessionRules::default()).map_err(|problems| {
        TestStartError(problems.iter().map(|problem| format!("`{}`: {problem}", path.display())).collect())
    })?;
    let beside = |file: &str| path.parent().unwrap_or(Path::new("")).join(file);
    if let Some(file) = agent.schema_file.take() {
        let text = read_text(&beside(&file))?;
        let schema = Value::parse(&text).map_err(|error| TestStartError::one(format!("`{file}`: {error}")))?;
        agent.rules.report.schema = Some(schema);
    }
    let agents = agent.agents.iter().map(|file| read_agent_file(&beside(file), depth + 1)).collect::<Result<_, _>>()?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(AgentPart {
        name,
        description: agent.description,
        prompt: agent.prompt,
        rules: agent.rules,
        tools: agent.tools,
        targets: agent.targets,
        policy: None,
        limits: agent.limits,
        agents,
    })
}
