//! Agents that the steps of a plan run: the capabilities of one tool, `agent`.

use reknit_protocol::schema::{FieldHint, Summary};
use reknit_protocol::{Capability, SideEffect};
use reknit_salvage::SchemaError;

use crate::catalogue::{Catalogue, CatalogueEntry, CatalogueTool};

/// The tool whose capabilities are the agents of a plan.
pub const AGENT_TOOL: &str = "agent";

/// An agent as a plan sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAnnouncement {
    /// Its name: that of its file, without the extension.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// The type of its report: `object` for JSON, `string` for text.
    pub report_type: &'static str,
}

/// Why the agents of a plan cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentToolError {
    #[error("a tool is called `{AGENT_TOOL}`, which stands for the agents of a plan: give the tool another name")]
    NameTaken,
    #[error("the schema of an agent cannot be used")]
    Schema(#[from] SchemaError),
}

/// The name of the agent in a file: `clerk` for `agents/clerk.md`.
///
/// ```
/// assert_eq!(reknit_plan::agent_name("agents/clerk.md"), "clerk");
/// ```
pub fn agent_name(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

impl Catalogue {
    /// The catalogue with agents, which take a task and return their report. Fails if a configured tool is called `agent`.
    pub fn with_agents(&self, agents: impl IntoIterator<Item = AgentAnnouncement>) -> Result<Self, AgentToolError> {
        let capabilities = agents.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        let mut tools = self.tools.clone();
        if !capabilities.is_empty() {
            if self.tool(AGENT_TOOL).is_some() {
                return Err(AgentToolError::NameTaken);
            }
            let description = "agents, which work on a task in turns".to_owned();
            tools.push(CatalogueTool { name: AGENT_TOOL.into(), description, capabilities });
        }
        Ok(Self { tools })
    }
}

fn entry(agent: AgentAnnouncement) -> Result<CatalogueEntry, SchemaError> {
    let summary = |required: Vec<FieldHint>| Some(Summary { required, ..Summary::default() });
    let input = vec![FieldHint::new("task", "string")];
    let output = vec![
        FieldHint::new("report", agent.report_type),
        FieldHint::new("status", "string"),
        FieldHint::new("session", "string"),
    ];
    let capability = Capability {
        description: agent.description,
        input_summary: summary(input),
        output_summary: summary(output),
        effect: SideEffect::Keyed,
        // A model that plans is not shown it.
        internal: true,
        ..Capability::new(agent.name)
    };
    CatalogueEntry::new(capability, None)
}
