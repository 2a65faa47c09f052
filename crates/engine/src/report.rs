//! The report that ends a session. Every session has exactly one.

mod exit;

pub use exit::SessionExit;

use reknit_mend::Rung;
use reknit_protocol::{Object, Value, exact, word_enum};
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::session_start::ReportFormat;

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
    /// How many tool calls succeeded.
    #[serde(default)]
    pub successful_calls: u32,
    /// Doubts about the report: figures in it that neither the request nor a result states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The calls that failed and may have taken effect, one sentence for each. With such a call a report is no success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_doubt: Vec<String>,
    /// The calls that were changed or sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedCall>,
    /// The calls that were approved because a rule asked for it, one sentence for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<String>,
    /// The calls that repeat one with a side effect that succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<RepeatedCall>,
    /// The outcomes of the plans and agents that were called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildReport>,
}

/// A call that was not sent as the model wrote it, or more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MendedCall {
    /// The turn of the call.
    pub turn: u32,
    /// The id of the call: `call-2`, or `call-2/price` for a step of a plan.
    pub call: String,
    /// The tool, as the model is shown it.
    pub tool: String,
    /// The rung of the repair ladder.
    pub rung: Rung,
    /// What was changed and why.
    pub change: String,
}

/// A call that repeats one with a side effect that succeeded. Without a reason it was not made, and the model got the
/// earlier result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedCall {
    /// The turn of the call.
    pub turn: u32,
    /// The id of the call: `call-2`.
    pub call: String,
    /// The tool, as the model is shown it.
    pub tool: String,
    /// The turn of the earlier call.
    pub first_turn: u32,
    /// The id of the earlier call in its turn.
    pub first_call: String,
    /// Why it was made again, as the model says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Report {
    /// Whether its figures are invented: no tool call succeeded, and nothing states them.
    pub fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty() && self.successful_calls == 0
    }

    /// Whether a model wrote the report.
    pub fn is_answer(&self) -> bool {
        self.source != ReportSource::Synthetic
    }
}

word_enum! {
    /// Whether the work was done, as the model judges it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReportStatus {
        /// The work was done, or the model does not say otherwise.
        Success = "success",
        /// Some of the work was done.
        Partial = "partial",
        /// The work was not done.
        Failure = "failure",
    }
}

word_enum! {
    /// The origin of a report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ReportSource {
        /// A call of the report tool.
        ToolCall = "tool-call",
        /// The text of an answer without calls.
        TextFallback = "text-fallback",
        /// The arguments of a call of the report tool that were unreadable or cut off, as far as they could be recovered.
        ToolMessage = "tool-message",
        /// The machine, because no model gave a report.
        Synthetic = "synthetic",
    }
}

word_enum! {
    /// Why the machine wrote the report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SyntheticReason {
        /// The turns were used up, and the final one had no report.
        MaxTurnsExhausted = "max_turns_exhausted",
        /// The conversation was too long, and the final turn had no report.
        ContextLimit = "context_limit",
        /// Every attempt of a turn failed, and so did the final turn.
        RetriesExhausted = "retries_exhausted",
        /// The user stopped the session, and the final turn had no report.
        UserStop = "user_stop",
        /// The session was cancelled.
        Cancelled = "cancelled",
        /// A limit on calls or cost was reached.
        BudgetExhausted = "budget_exhausted",
        /// The time limit was reached.
        TimeLimit = "time_limit",
        /// A provider rejected the API key.
        AuthError = "auth_error",
        /// The quota of an account is used up.
        QuotaExceeded = "quota_exceeded",
        /// There is no model to ask.
        NoProviders = "no_providers",
        /// The machine itself failed.
        InternalError = "internal_error",
    }
}

impl SyntheticReason {
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

word_enum! {
    /// Why a turn is the final one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FinalTurnReason {
        /// The conversation does not fit any context window.
        Context = "context",
        /// The turns are used up.
        MaxTurns = "max_turns",
        /// Every attempt of the previous turn failed.
        RetryExhaustion = "retry_exhaustion",
        /// The user stopped the session.
        UserStop = "user_stop",
        /// The budget covers only one more question.
        Budget = "budget",
        /// The time limit is nearly reached.
        TimeLimit = "time_limit",
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
    /// The calls of a called agent that were changed or sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedCall>,
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
