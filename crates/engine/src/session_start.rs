//! The first event of a session: everything the session ever knows besides later events.

use std::sync::Arc;

use reknit_mend::Corrector;
use reknit_model_api::{Attachment, Effort, TargetName, Temperature};
use reknit_plan::Catalogue;
use reknit_protocol::{RunId, Value, exact, word_enum};
use serde::{Deserialize, Serialize};

use crate::guard::Mandate;
use crate::metadata::Metadata;
use crate::session_texts::SessionTexts;
use crate::trace_parent::{ForkOrigin, TraceParent};
use crate::{Policy, Templates};

/// The first event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// The id of the session. Sessions and runs share one namespace.
    pub run: RunId,
    pub agent: String,
    /// The agent's instructions: the body of its file.
    pub prompt: String,
    pub input: String,
    /// Images, documents and sound that belong to the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Who the request is for, and the like. The agents and plans that this agent calls have the same.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// The agents that this one may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubAgent>,
    /// The tools that the agent may call.
    pub catalogue: Arc<Catalogue>,
    /// The tools that the agent may call and that could not be reached when the session started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
    /// The model targets, the preferred one first.
    pub targets: Vec<TargetName>,
    /// The rules for turns and the report.
    pub rules: SessionRules,
    /// Budgets, and how calls are repaired.
    pub policy: Arc<Policy>,
    pub templates: Arc<Templates>,
    pub words: Arc<SessionTexts>,
    /// Seed for deterministic jitter.
    pub seed: u64,
    /// The parent span of another program. It stays the same when another process takes over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<TraceParent>,
    /// Which run this session is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// The version of the state machine that started the session.
    pub machine_version: u32,
}

/// An agent that another agent may call like a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubAgent {
    pub name: String,
    /// The purpose; empty if it is not given.
    pub description: String,
    /// Its first event, except for the run id and the question. Its budget is capped by the caller's.
    pub session: SessionStarted,
}

/// Whether an agent may submit a whole plan at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plans {
    /// The agent calls tools one by one.
    #[default]
    Off,
    /// The agent may call tools and submit plans.
    Allowed,
}

/// How far the calls of an agent may be changed before they are sent. The agent's model has the context of the
/// conversation; rules and other models do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentMending {
    /// Only the spelling of names and values: types, keys, letter case.
    #[default]
    Spelling,
    /// Also values that the error of the tool determines.
    Rules,
    /// Also values that another model suggests, as in a run.
    Models,
}

/// Whether calls that a model writes as text are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallsInText {
    /// They are made, and the fix is recorded.
    #[default]
    Made,
    /// They are text.
    Ignored,
}

/// What a text without any call is to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextAnswers {
    /// A failed attempt: the model is told to call a tool or to report.
    #[default]
    Refused,
    /// The report, as in a conversation. The prompt says so.
    Accepted,
}

/// The rules for turns and the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRules {
    /// The number of the final turn, in which only the report is allowed.
    pub max_turns: u32,
    /// Attempts per turn, the first included.
    pub max_retries: u32,
    /// The token limit for one answer; doubled for one retry if an answer is truncated.
    pub max_output_tokens: u32,
    /// The time limit of the session, without waiting for a person. Part of it is reserved for the final turn. `None` is no
    /// limit: turns and attempts bound the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_ms: Option<u64>,
    pub llm_timeout_ms: u64,
    /// The sampling temperature; `None` for the provider's default.
    pub temperature: Option<Temperature>,
    /// The reasoning effort; `None` for the provider's default.
    pub effort: Option<Effort>,
    /// The byte limit for one result in the conversation.
    pub result_bytes: usize,
    /// Whether the agent may submit a whole plan at once.
    #[serde(default)]
    pub plans: Plans,
    /// How far calls may be changed before they are sent.
    #[serde(default)]
    pub mending: AgentMending,
    /// Who may correct a call that is not mended. The errors of sessions that were stored without it do not say that the agent may.
    #[serde(default, skip_serializing_if = "Corrector::is_nobody")]
    pub corrector: Corrector,
    /// Whether calls that a model writes as text are made.
    #[serde(default)]
    pub calls_in_text: CallsInText,
    /// What a text without any call is.
    #[serde(default)]
    pub text_answers: TextAnswers,
    /// What the agent may change, if its author says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mandate: Option<Mandate>,
    pub report: ReportRules,
}

impl Default for SessionRules {
    fn default() -> Self {
        Self {
            max_turns: 10,
            max_retries: 3,
            max_output_tokens: 4_096,
            max_time_ms: None,
            llm_timeout_ms: 600_000,
            temperature: Some(Temperature::ZERO),
            effort: None,
            result_bytes: 12_288,
            plans: Plans::Off,
            mending: AgentMending::Spelling,
            corrector: Corrector::Agent,
            calls_in_text: CallsInText::Made,
            text_answers: TextAnswers::Refused,
            mandate: None,
            report: ReportRules { format: ReportFormat::Markdown, schema: None },
        }
    }
}

/// The required form of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportRules {
    pub format: ReportFormat,
    /// The JSON Schema of a JSON report.
    #[serde(with = "exact::option")]
    pub schema: Option<Value>,
}

word_enum! {
    /// The format of a report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReportFormat {
        Text = "text",
        Markdown = "markdown",
        Json = "json",
    }
}
