//! The report that ends a session. Every session has exactly one.

use reknit_mend::{Rung, tried_in_vain};
use reknit_protocol::{Object, Value, exact, word_enum};
use serde::{Deserialize, Serialize};

use crate::answer::Status;
use crate::budget::Spent;
use crate::session_start::ReportFormat;

/// Another accepted name of the report tool.
pub const REPORT_ALIAS: &str = "final_report";

/// The result of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub format: ReportFormat,
    pub content: String,
    /// The content as JSON, if that is the format.
    #[serde(with = "exact::option")]
    pub content_json: Option<Value>,
    /// Additional data from the model or the machine.
    #[serde(with = "exact")]
    pub metadata: Object,
    /// Whether the work was done: the lower one of what the model claims and what became of its calls.
    pub status: ReportStatus,
    pub source: ReportSource,
    pub forced_final_reason: Option<FinalTurnReason>,
    /// Why the machine wrote the report, if it did.
    pub synthetic_reason: Option<SyntheticReason>,
    pub exit: SessionExit,
    pub turn: u32,
    /// How many reports the model tried to give.
    pub final_report_attempts: u32,
    pub spent: Spent,
    pub totals: Totals,
    #[serde(default)]
    pub successful_calls: u32,
    #[serde(flatten)]
    pub shortcomings: Shortcomings,
    /// The calls that were changed or sent again, and succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedCall>,
    /// The calls that were changed or sent again, and failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<MendedCall>,
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

/// Why a report is less than the success that its text may claim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shortcomings {
    /// Doubts about the report: figures in it that neither the request nor a result states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The calls that failed and may have taken effect, one sentence for each. With such a call a report is no success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_doubt: Vec<String>,
    /// What was not done: the calls that failed, and what called plans and agents did not do, one sentence for each. With a
    /// failed call that changes something a report is no success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_done: Vec<String>,
}

impl Shortcomings {
    /// What was not done, what may have taken effect, and what no source states, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
        self.not_done.iter().chain(&self.in_doubt).chain(&self.doubts).cloned().collect()
    }
}

/// A call that was not sent as the model wrote it, or more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MendedCall {
    pub turn: u32,
    /// The id of the call: `call-2`, or `call-2/price` for a step of a plan.
    pub call: String,
    /// The tool, as the model is shown it.
    pub tool: String,
    pub rung: Rung,
    pub change: String,
}

/// A call that repeats one with a side effect that succeeded. Without a reason it was not made, and the model got the
/// earlier result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedCall {
    pub turn: u32,
    /// The id of the call: `call-2`.
    pub call: String,
    /// The tool, as the model is shown it.
    pub tool: String,
    pub first_turn: u32,
    /// The id of the earlier call in its turn.
    pub first_call: String,
    /// Why it was made again, as the model says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MendedCall {
    /// What was tried for calls that failed, one line for each change of a call and one for all its resends.
    pub fn lines_in_vain(calls: &[Self]) -> Vec<String> {
        let of_call = calls.chunk_by(|one, next| (one.turn, &one.call) == (next.turn, &next.call));
        let lines = |calls: &[Self]| {
            let Some(Self { turn, call, tool, .. }) = calls.first() else { return Vec::new() };
            let applied = calls.iter().map(|call| (call.rung, call.change.as_str()));
            tried_in_vain(&format!("{call} ({tool}) in turn {turn}"), applied)
        };
        of_call.flat_map(lines).collect()
    }
}

impl Report {
    /// Whether its figures are invented: no tool call succeeded, and nothing states them.
    pub fn is_doubtful(&self) -> bool {
        !self.shortcomings.doubts.is_empty() && self.successful_calls == 0
    }

    /// Whether a model wrote the report.
    pub fn is_answer(&self) -> bool {
        self.source != ReportSource::Synthetic
    }
}

word_enum! {
    /// Whether the work was done, from the best to the worst.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReportStatus {
        /// The work was done, or the model does not say otherwise.
        Success = "success",
        Partial = "partial",
        /// The work was not done.
        Failure = "failure",
    }
}

impl From<ReportStatus> for Status {
    fn from(status: ReportStatus) -> Self {
        match status {
            ReportStatus::Success => Self::Complete,
            ReportStatus::Partial => Self::Partial,
            ReportStatus::Failure => Self::Failed,
        }
    }
}

impl From<Status> for ReportStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Complete => Self::Success,
            Status::Partial => Self::Partial,
            Status::Failed | Status::Impossible | Status::Cancelled | Status::BudgetExhausted => Self::Failure,
        }
    }
}

word_enum! {
    /// The origin of a report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ReportSource {
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
        Cancelled = "cancelled",
        /// A limit on calls or cost was reached.
        BudgetExhausted = "budget_exhausted",
        TimeLimit = "time_limit",
        AuthError = "auth_error",
        /// The quota of an account is used up.
        QuotaExceeded = "quota_exceeded",
        /// There is no model to ask.
        NoProviders = "no_providers",
        InternalError = "internal_error",
    }
}

word_enum! {
    /// Why a session ended. The words are stable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SessionExit {
        FinalAnswer = "EXIT-FINAL-ANSWER",
        /// The model gave its report in the final turn, because the turns were used up.
        MaxTurnsWithResponse = "EXIT-MAX-TURNS-WITH-RESPONSE",
        /// The conversation was too long, with or without a report.
        TokenLimit = "EXIT-TOKEN-LIMIT",
        /// The user stopped the session, with or without a report.
        UserStop = "EXIT-USER-STOP",
        SignalReceived = "EXIT-SIGNAL-RECEIVED",
        AuthFailure = "EXIT-AUTH-FAILURE",
        /// The quota of an account is used up.
        QuotaExceeded = "EXIT-QUOTA-EXCEEDED",
        /// There is no model to ask.
        NoProviders = "EXIT-NO-PROVIDERS",
        /// Every attempt of a turn failed, and so did the final turn.
        MaxRetries = "EXIT-MAX-RETRIES",
        /// The turns were used up without a report.
        MaxTurnsNoResponse = "EXIT-MAX-TURNS-NO-RESPONSE",
        /// A limit on calls or cost was reached.
        BudgetExhausted = "EXIT-BUDGET-EXHAUSTED",
        TimeLimit = "EXIT-TIME-LIMIT",
        InternalError = "EXIT-INTERNAL-ERROR",
    }
}

impl SyntheticReason {
    /// How the session ends, and the explanation for the user.
    pub(crate) const fn exit_and_message(self) -> (SessionExit, &'static str) {
        use SessionExit as Exit;
        match self {
            Self::MaxTurnsExhausted => (Exit::MaxTurnsNoResponse, "the model gave no report within the allowed turns"),
            Self::ContextLimit => {
                (Exit::TokenLimit, "the conversation reached the context window limit, and the model gave no report")
            }
            Self::RetriesExhausted => (Exit::MaxRetries, "no model gave a usable answer"),
            Self::UserStop => {
                (Exit::UserStop, "the session was stopped, and the model gave no report in the final turn")
            }
            Self::Cancelled => (Exit::SignalReceived, "the session was cancelled"),
            Self::BudgetExhausted => {
                (Exit::BudgetExhausted, "a budget limit was reached before the model gave a report")
            }
            Self::TimeLimit => (Exit::TimeLimit, "the time limit was reached before the model gave a report"),
            Self::AuthError => (Exit::AuthFailure, "the model's provider rejected the API key"),
            Self::QuotaExceeded => {
                (Exit::QuotaExceeded, "the quota of the account with the model's provider is used up")
            }
            Self::NoProviders => (Exit::NoProviders, "there is no model to ask"),
            Self::InternalError => (Exit::InternalError, "an internal error occurred"),
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
        MaxTurns = "max_turns",
        /// Every attempt of the previous turn failed.
        RetryExhaustion = "retry_exhaustion",
        UserStop = "user_stop",
        /// The budget covers only one more question.
        Budget = "budget",
        TimeLimit = "time_limit",
    }
}

/// The outcome of a plan or an agent that was called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildReport {
    pub turn: u32,
    /// The id of the call: `call-2`.
    pub call: String,
    pub name: String,
    /// The status of a plan, or the exit of an agent.
    pub status: String,
    /// Whether the call succeeded.
    pub done: bool,
    pub spent: Spent,
    /// The calls of a called agent that were changed or sent again, and succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedCall>,
    /// The outcomes of the plans and agents that it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildReport>,
}

/// Totals over all attempts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    pub attempts: u32,
    /// The number of attempts without calls or a report.
    pub failed_attempts: u32,
    pub model_ms: u64,
    /// The total time spent waiting for rate limits.
    pub backoff_ms: u64,
}
