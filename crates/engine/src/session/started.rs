//! How a session begins: everything it will ever know besides events.

use std::sync::Arc;

use reknit_dialogue::{Effort, TargetName, Temperature};
use reknit_protocol::{RunId, Value, exact};
use serde::{Deserialize, Serialize};

use super::words::Words;
use crate::telemetry::TraceParent;
use crate::{Policy, Templates};
use reknit_plan::Catalogue;

/// How a session begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// Which session; sessions and runs share their names.
    pub run: RunId,
    /// What the agent is called.
    pub agent: String,
    /// What the agent is told about its work: the body of its file.
    pub prompt: String,
    /// What it is asked.
    pub input: String,
    /// The agents that it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubAgent>,
    /// The tools it may call.
    pub catalogue: Arc<Catalogue>,
    /// The models that may be asked, the preferred one first.
    pub targets: Vec<TargetName>,
    /// How it turns and ends.
    pub rules: SessionRules,
    /// What it may spend, and how its calls are mended.
    pub policy: Arc<Policy>,
    /// The words in which models are asked about calls that failed.
    pub templates: Arc<Templates>,
    /// The words of notices and instructions.
    pub words: Arc<Words>,
    /// What chance is made of.
    pub seed: u64,
    /// The span of somebody else that it is a part of, for as long as it lasts and whoever drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<TraceParent>,
    /// The version of the machine that began it.
    pub machine_version: u32,
}

/// An agent that another may call as if it were a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubAgent {
    /// What it is called.
    pub name: String,
    /// What it is for; empty if it does not say.
    pub description: String,
    /// How it begins, but for its name as a run and for what it is asked. It may spend no more than who calls it.
    pub session: SessionStarted,
}

/// Whether an agent may hand over a whole plan at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plans {
    /// It calls tools one by one.
    #[default]
    Off,
    /// It may do both.
    Allowed,
}

/// How a session turns and ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRules {
    /// The turn that is the last one: there only the report may be given.
    pub max_turns: u32,
    /// Attempts in one turn, the first included.
    pub max_retries: u32,
    /// The most a model may answer, in tokens; doubled once if an answer is cut.
    pub max_output_tokens: u32,
    /// The longest one attempt may take.
    pub llm_timeout_ms: u64,
    /// How freely models choose their words; as each provider likes if there is none.
    pub temperature: Option<Temperature>,
    /// How much models think first; as each provider likes if there is none.
    pub effort: Option<Effort>,
    /// The most of one result that goes into the conversation, in bytes.
    pub result_bytes: usize,
    /// Whether it may hand over a whole plan at once.
    #[serde(default)]
    pub plans: Plans,
    /// What the report looks like.
    pub report: ReportRules,
}

impl Default for SessionRules {
    fn default() -> Self {
        Self {
            max_turns: 10,
            max_retries: 3,
            max_output_tokens: 4_096,
            llm_timeout_ms: 600_000,
            temperature: Some(Temperature::ZERO),
            effort: None,
            result_bytes: 12_288,
            plans: Plans::Off,
            report: ReportRules { format: ReportFormat::Markdown, schema: None },
        }
    }
}

/// What a report looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportRules {
    /// Its form.
    pub format: ReportFormat,
    /// The JSON Schema of a report in JSON.
    #[serde(with = "exact::option")]
    pub schema: Option<Value>,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
}

impl ReportFormat {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Json => "json",
        }
    }
}
