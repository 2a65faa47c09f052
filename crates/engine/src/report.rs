//! The report that ends a session. Every session has exactly one.

mod exit;

pub use exit::SessionExit;

use reknit_protocol::{Object, Value, exact};
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::session_start::ReportFormat;

/// The tool with which a model gives its report.
pub const REPORT_TOOL: &str = "agent__final_report";

/// Another accepted name of the report tool.
pub const REPORT_ALIAS: &str = "final_report";

/// The result of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The format.
    pub format: ReportFormat,
    /// The content as text.
    pub content: String,
    /// The content as JSON, if that is the format.
    #[serde(with = "exact::option")]
    pub content_json: Option<Value>,
    /// Additional data from the model or the machine.
    #[serde(with = "exact")]
    pub metadata: Object,
    /// Whether the work was done, as the model judges it.
    pub status: ReportStatus,
    /// The origin of the report.
    pub source: ReportSource,
    /// Why the turn was the final one, if it was.
    pub forced_final_reason: Option<FinalTurnReason>,
    /// Why the machine wrote the report, if it did.
    pub synthetic_reason: Option<SyntheticReason>,
    /// Why the session ended.
    pub exit: SessionExit,
    /// The turn of the report.
    pub turn: u32,
    /// How many reports the model tried to give.
    pub final_report_attempts: u32,
    /// What the session spent.
    pub spent: Spent,
    /// Totals over all attempts.
    pub totals: Totals,
    /// The outcomes of the plans and agents that were called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildReport>,
}

impl Report {
    /// Whether a model wrote the report.
    pub fn is_answer(&self) -> bool {
        self.source != ReportSource::Synthetic
    }
}

/// Whether the work was done, as the model judges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// The work was done, or the model does not say otherwise.
    Success,
    /// Some of the work was done.
    Partial,
    /// The work was not done.
    Failure,
}

impl ReportStatus {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failure => "failure",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Success, Self::Partial, Self::Failure].into_iter().find(|status| status.as_str() == word)
    }
}

/// The origin of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportSource {
    /// A call of the report tool.
    ToolCall,
    /// The text of an answer without calls.
    TextFallback,
    /// The text of an unreadable or truncated call of the report tool.
    ToolMessage,
    /// The machine, because no model gave a report.
    Synthetic,
}

impl ReportSource {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolCall => "tool-call",
            Self::TextFallback => "text-fallback",
            Self::ToolMessage => "tool-message",
            Self::Synthetic => "synthetic",
        }
    }
}

/// Why the machine wrote the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyntheticReason {
    /// The final turn had no report.
    MaxTurnsExhausted,
    /// The conversation was too long, and the final turn had no report.
    ContextLimit,
    /// Every attempt of a turn failed, and so did the final turn.
    RetriesExhausted,
    /// The user stopped the session, and the final turn had no report.
    UserStop,
    /// The session was cancelled.
    Cancelled,
    /// A limit on calls or cost was reached.
    BudgetExhausted,
    /// The time limit was reached.
    TimeLimit,
    /// A provider rejected the API key.
    AuthError,
    /// The quota of an account is used up.
    QuotaExceeded,
    /// There is no model to ask.
    NoProviders,
    /// The machine itself failed.
    InternalError,
}

impl SyntheticReason {
    /// The label: one of a closed set.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaxTurnsExhausted => "max_turns_exhausted",
            Self::ContextLimit => "context_limit",
            Self::RetriesExhausted => "retries_exhausted",
            Self::UserStop => "user_stop",
            Self::Cancelled => "cancelled",
            Self::BudgetExhausted => "budget_exhausted",
            Self::TimeLimit => "time_limit",
            Self::AuthError => "auth_error",
            Self::QuotaExceeded => "quota_exceeded",
            Self::NoProviders => "no_providers",
            Self::InternalError => "internal_error",
        }
    }

    /// The explanation for the user.
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::MaxTurnsExhausted => "the model gave no report within the allowed turns",
            Self::ContextLimit => "the conversation reached the context window limit, and the model gave no report",
            Self::RetriesExhausted => "no model gave a usable answer",
            Self::UserStop => "the session was stopped, and the model gave no report in the final turn",
            Self::Cancelled => "the session was cancelled",
            Self::BudgetExhausted => "a budget limit was reached before the model gave a report",
            Self::TimeLimit => "the time limit was reached before the model gave a report",
            Self::AuthError => "the model's provider rejected the API key",
            Self::QuotaExceeded => "the quota of the account with the model's provider is used up",
            Self::NoProviders => "there is no model to ask",
            Self::InternalError => "an internal error occurred",
        }
    }

    pub(crate) const fn exit(self) -> SessionExit {
        match self {
            Self::MaxTurnsExhausted => SessionExit::MaxTurnsNoResponse,
            Self::ContextLimit => SessionExit::TokenLimit,
            Self::RetriesExhausted => SessionExit::MaxRetries,
            Self::UserStop => SessionExit::UserStop,
            Self::Cancelled => SessionExit::SignalReceived,
            Self::BudgetExhausted => SessionExit::BudgetExhausted,
            Self::TimeLimit => SessionExit::TimeLimit,
            Self::AuthError => SessionExit::AuthFailure,
            Self::QuotaExceeded => SessionExit::QuotaExceeded,
            Self::NoProviders => SessionExit::NoProviders,
            Self::InternalError => SessionExit::InternalError,
        }
    }
}

/// Why a turn is the final one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalTurnReason {
    /// The conversation does not fit any context window.
    Context,
    /// The turns are used up.
    MaxTurns,
    /// Every attempt of the previous turn failed.
    RetryExhaustion,
    /// The user stopped the session.
    UserStop,
    /// The budget covers only one more question.
    Budget,
}

impl FinalTurnReason {
    /// The label: one of a closed set.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::MaxTurns => "max_turns",
            Self::RetryExhaustion => "retry_exhaustion",
            Self::UserStop => "user_stop",
            Self::Budget => "budget",
        }
    }
}

/// The outcome of a plan or an agent that was called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildReport {
    /// The turn of the call.
    pub turn: u32,
    /// The id of the call: `call-2`.
    pub call: String,
    /// The name of what was called.
    pub name: String,
    /// The status of a plan, or the exit of an agent.
    pub status: String,
    /// Whether the call succeeded.
    pub done: bool,
    /// What it spent.
    pub spent: Spent,
    /// The outcomes of the plans and agents that it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildReport>,
}

/// Totals over all attempts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// The number of attempts.
    pub attempts: u32,
    /// The number of attempts without calls or a report.
    pub failed_attempts: u32,
    /// The total time that models took.
    pub model_ms: u64,
    /// The total time spent waiting for rate limits.
    pub backoff_ms: u64,
}
