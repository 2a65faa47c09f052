//! The report that every session ends with, exactly once.

use reknit_protocol::{Object, Value, exact};
use serde::{Deserialize, Serialize};

use super::children::ChildReport;
use super::exit::Exit;
use super::record::{ForcedReason, Totals};
use super::started::ReportFormat;
use crate::budget::Spent;

/// The tool with which a model gives its report.
pub const REPORT_TOOL: &str = "agent__final_report";

/// What it may be called instead.
pub const REPORT_ALIAS: &str = "final_report";

/// What a session ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Its form.
    pub format: ReportFormat,
    /// What it says, as text.
    pub content: String,
    /// What it says, as JSON, where that is its form.
    #[serde(with = "exact::option")]
    pub content_json: Option<Value>,
    /// What else the model, or the machine, wants to be known.
    #[serde(with = "exact")]
    pub metadata: Object,
    /// Whether the work was done, in the model's own judgement.
    pub status: ReportStatus,
    /// Where it comes from.
    pub source: ReportSource,
    /// What made the turn the last one, if anything did.
    pub forced_final_reason: Option<ForcedReason>,
    /// Why nobody but the machine could write it, if that is so.
    pub synthetic_reason: Option<SyntheticReason>,
    /// Why the session ended.
    pub exit: Exit,
    /// The turn in which it came.
    pub turn: u32,
    /// How often a report was tried.
    pub final_report_attempts: u32,
    /// What the session cost.
    pub spent: Spent,
    /// What its attempts came to.
    pub totals: Totals,
    /// What became of the plans and agents that it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildReport>,
}

impl Report {
    /// Whether a model wrote it.
    pub fn is_answer(&self) -> bool {
        self.source != ReportSource::Synthetic
    }
}

/// Whether the work was done, in the model's own judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// It was, or the model does not say otherwise.
    Success,
    /// Some of it was.
    Partial,
    /// It was not.
    Failure,
}

impl ReportStatus {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failure => "failure",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Success, Self::Partial, Self::Failure].into_iter().find(|status| status.as_str() == word)
    }
}

/// Where a report comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportSource {
    /// The call of the report's tool.
    ToolCall,
    /// Words of an answer without calls.
    TextFallback,
    /// The words of a call that could not be used as it was.
    ToolMessage,
    /// The machine: no model gave one.
    Synthetic,
}

impl ReportSource {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolCall => "tool-call",
            Self::TextFallback => "text-fallback",
            Self::ToolMessage => "tool-message",
            Self::Synthetic => "synthetic",
        }
    }
}

/// Why the machine had to write the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyntheticReason {
    /// The last turn brought none.
    MaxTurnsExhausted,
    /// The conversation became too long, and the last turn brought none.
    ContextLimit,
    /// No attempt of a turn brought anything, nor did the turn after it.
    RetriesExhausted,
    /// Somebody stopped the session, and the last turn brought none.
    UserStop,
    /// Somebody cancelled it.
    Cancelled,
    /// A limit of calls was reached.
    BudgetExhausted,
    /// Its time was over.
    TimeLimit,
    /// A key was refused.
    AuthError,
    /// An account has nothing left to spend.
    QuotaExceeded,
    /// There is no model to ask.
    NoProviders,
}

impl SyntheticReason {
    /// The word for it: a closed set, for labels.
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
        }
    }

    /// What the user is told.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::MaxTurnsExhausted => "the turns were used up and no report was given",
            Self::ContextLimit => "the conversation became too long and no report was given",
            Self::RetriesExhausted => "no model gave an answer that could be used",
            Self::UserStop => "it was stopped, and no report was given in the last turn",
            Self::Cancelled => "it was cancelled",
            Self::BudgetExhausted => "a limit was reached before a report was given",
            Self::TimeLimit => "its time was over before a report was given",
            Self::AuthError => "the model's provider refuses the key",
            Self::QuotaExceeded => "the account with the model's provider has nothing left to spend",
            Self::NoProviders => "there is no model to ask",
        }
    }

    pub(super) const fn exit(self) -> Exit {
        match self {
            Self::MaxTurnsExhausted => Exit::MaxTurnsNoResponse,
            Self::ContextLimit => Exit::TokenLimit,
            Self::RetriesExhausted => Exit::MaxRetries,
            Self::UserStop => Exit::UserStop,
            Self::Cancelled => Exit::SignalReceived,
            Self::BudgetExhausted => Exit::BudgetExhausted,
            Self::TimeLimit => Exit::TimeLimit,
            Self::AuthError => Exit::AuthFailure,
            Self::QuotaExceeded => Exit::QuotaExceeded,
            Self::NoProviders => Exit::NoProviders,
        }
    }
}
