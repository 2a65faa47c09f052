//! What a session has to tell: every attempt, every wait, every turn, as data. Logs, metrics and accounts are made of it.

use reknit_dialogue::{ErrorClass, Money, TargetName, Usage};
use serde::{Deserialize, Serialize};

use super::children::ChildReport;
use super::directive::Directive;
use super::report::{ReportSource, ReportStatus, SyntheticReason};

/// One thing a session has to tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A model was asked.
    Attempt(Box<Attempt>),
    /// Everybody was at a limit, and there was a wait.
    Waited {
        /// The turn.
        turn: u32,
        /// How long it was to be.
        ms: u64,
        /// What ended it.
        end: WaitEnd,
    },
    /// A model was not asked: it rests.
    Rested {
        /// The turn.
        turn: u32,
        /// Who was to be asked.
        target: TargetName,
        /// Until when it rests, in milliseconds since 1970.
        until_ms: i64,
    },
    /// A call in an answer was left out.
    CallDropped {
        /// The turn.
        turn: u32,
        /// The tool, in the model's words.
        tool: String,
        /// Why.
        why: Dropped,
    },
    /// A report that could be accepted later was kept.
    ReportKept {
        /// The turn.
        turn: u32,
        /// Where it comes from.
        source: ReportSource,
    },
    /// The turn is the last one.
    FinalTurn {
        /// The turn.
        turn: u32,
        /// Why.
        reason: ForcedReason,
    },
    /// The turns that were left became fewer.
    Collapsed {
        /// The turn.
        turn: u32,
        /// Why.
        reason: CollapseReason,
        /// How many there were to be.
        previous_max_turns: u32,
        /// How many there are.
        new_max_turns: u32,
    },
    /// A question was too long.
    ContextGuard {
        /// The turn.
        turn: u32,
        /// What was done about it.
        action: ContextAction,
    },
    /// A result was too long for the conversation, and is kept beside it.
    ResultStored {
        /// The turn.
        turn: u32,
        /// The tool.
        tool: String,
        /// How long it is.
        bytes: u64,
    },
    /// A plan or an agent that was called is over.
    Child(Box<ChildReport>),
    /// A turn is over.
    TurnEnded {
        /// The turn.
        turn: u32,
        /// How many attempts it took.
        attempts: u32,
        /// How it ended.
        outcome: TurnOutcome,
        /// How long it took.
        ms: u64,
    },
    /// The session has its report.
    Reported {
        /// The turn.
        turn: u32,
        /// Where it comes from.
        source: ReportSource,
        /// What it says of itself.
        status: ReportStatus,
        /// What made the turn the last one.
        forced_final_reason: Option<ForcedReason>,
        /// Why the machine had to write it.
        synthetic_reason: Option<SyntheticReason>,
        /// How often a report was tried.
        final_report_attempts: u32,
    },
}

/// One attempt: who was asked, what came of it, what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The turn, from 1.
    pub turn: u32,
    /// The attempt in its turn, from 1.
    pub attempt: u32,
    /// Who was asked.
    pub target: TargetName,
    /// What came of it.
    pub status: AttemptStatus,
    /// Why it failed, in words.
    pub error: Option<String>,
    /// What was done about a failure.
    pub directive: Option<Directive>,
    /// Why the answer ended, in the provider's word.
    pub stop_reason: Option<String>,
    /// What it used, as far as that is known.
    pub usage: Option<Usage>,
    /// What it cost, if that is known.
    pub cost: Option<Money>,
    /// How long it took.
    pub latency_ms: u64,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// An answer of this kind.
    Answered(AnswerKind),
    /// No answer, for this reason.
    Failed(ErrorClass),
    /// It was not waited for: somebody stopped the session.
    Abandoned,
}

impl AttemptStatus {
    /// The word for it: a closed set, for labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered(kind) => kind.as_str(),
            Self::Failed(class) => class.as_str(),
            Self::Abandoned => "abandoned",
        }
    }
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Calls of tools.
    ToolCalls,
    /// The report.
    FinalReport,
    /// Words, and nothing that can be done.
    TextOnly,
    /// Nothing at all.
    Empty,
    /// Reasoning, and nothing else.
    ReasoningOnly,
    /// Cut by the limit of its length.
    Truncated,
    /// Calls, none of which has parameters that can be read.
    MalformedCall,
    /// Calls, none of a tool that may be called.
    UnknownTool,
    /// A report that cannot be taken.
    ReportRejected,
    /// A refusal, or an answer that the provider held back.
    Refused,
}

impl AnswerKind {
    /// Every kind there is.
    pub const ALL: [Self; 10] = [
        Self::ToolCalls,
        Self::FinalReport,
        Self::TextOnly,
        Self::Empty,
        Self::ReasoningOnly,
        Self::Truncated,
        Self::MalformedCall,
        Self::UnknownTool,
        Self::ReportRejected,
        Self::Refused,
    ];

    /// The word for it: a closed set, for labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool_calls",
            Self::FinalReport => "final_report",
            Self::TextOnly => "text_only",
            Self::Empty => "empty_response",
            Self::ReasoningOnly => "reasoning_only",
            Self::Truncated => "truncated",
            Self::MalformedCall => "malformed_tool_call",
            Self::UnknownTool => "unknown_tool",
            Self::ReportRejected => "final_report_rejected",
            Self::Refused => "refused",
        }
    }
}

/// What is done about a question that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextAction {
    /// This target is not asked: another can read more.
    Skipped(TargetName),
    /// Older results were replaced by their names.
    Compacted {
        /// How many.
        results: u32,
    },
    /// The oldest turns were left out of the last one.
    Trimmed {
        /// How many.
        turns: u32,
    },
}

impl ContextAction {
    /// The word for it: a closed set, for labels.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Skipped(_) => "skipped",
            Self::Compacted { .. } => "compacted",
            Self::Trimmed { .. } => "trimmed",
        }
    }
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitEnd {
    /// Its time.
    Completed,
    /// Somebody stopped the session.
    AbortedStop,
    /// Somebody cancelled it, or its time was over.
    AbortedCancel,
}

/// Why a call was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// Its parameters cannot be read.
    Malformed,
    /// There is no such tool.
    Unknown,
    /// It may not be called in the last turn.
    NotPermitted,
}

/// Why a turn is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForcedReason {
    /// The conversation is too long.
    Context,
    /// There are no more.
    MaxTurns,
    /// The attempts of the turn before brought nothing.
    RetryExhaustion,
    /// Somebody wants it so.
    UserStop,
    /// What is left to spend is enough for no more.
    Budget,
}

impl ForcedReason {
    /// The word for it: a closed set, for labels.
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

/// Why the turns became fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollapseReason {
    /// A report was tried that could not be taken.
    FinalReportAttempt,
    /// A report was tried that lacks its content, or its end.
    IncompleteFinalReport,
}

impl CollapseReason {
    /// The word for it: a closed set, for labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FinalReportAttempt => "final_report_attempt",
            Self::IncompleteFinalReport => "incomplete_final_report",
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// Tools were called.
    ToolCalls,
    /// A report was given.
    FinalReport,
    /// Nothing came of it.
    Failed,
    /// Somebody stopped or cancelled the session.
    Stopped,
}

impl TurnOutcome {
    /// The word for it: a closed set, for labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool_calls",
            Self::FinalReport => "final_report",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// What all attempts of a session came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// How many there were.
    pub attempts: u32,
    /// How many brought neither calls nor a report.
    pub failed_attempts: u32,
    /// How long models took, in all.
    pub model_ms: u64,
    /// How long there was a wait because everybody was at a limit.
    pub backoff_ms: u64,
}
