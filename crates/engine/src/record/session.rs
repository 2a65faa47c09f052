//! Decisions of a session.

use reknit_dialogue::{ErrorClass, Money, TargetName, Usage};
use reknit_protocol::EffectId;
use serde::{Deserialize, Serialize};

use super::directive::RetryDirective;
use crate::answer::Status;
use crate::budget::Spent;
use crate::report::{ChildReport, FinalTurnReason, ReportSource, ReportStatus, SessionExit, SyntheticReason};

/// A decision of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionRecord {
    /// The session started.
    Started {
        /// The agent.
        agent: String,
        /// The user's question.
        input: String,
    },
    /// A turn started.
    TurnStarted {
        /// The turn, from 1.
        turn: u32,
    },
    /// An attempt to ask a model is over.
    Attempt(Box<Attempt>),
    /// A wait for rate limits ended.
    WaitEnded {
        /// The turn.
        turn: u32,
        /// The planned length, in milliseconds.
        ms: u64,
        /// What ended it.
        end: WaitEnd,
    },
    /// A model target was skipped because its circuit breaker is open or it is at its rate limit.
    TargetSkipped {
        /// The turn.
        turn: u32,
        /// The target.
        target: TargetName,
        /// When the target can be asked again, in milliseconds since 1970.
        until_ms: i64,
    },
    /// A call in an answer was dropped.
    CallDropped {
        /// The turn.
        turn: u32,
        /// The tool, as the model named it.
        tool: String,
        /// Why.
        why: DropReason,
    },
    /// A fallback report was found. It is committed if the model gives no better one.
    FallbackReportFound {
        /// The turn.
        turn: u32,
        /// Where it was found.
        source: ReportSource,
    },
    /// The turn is the final one.
    FinalTurn {
        /// The turn.
        turn: u32,
        /// Why.
        reason: FinalTurnReason,
    },
    /// The number of remaining turns was reduced.
    Collapsed {
        /// The turn.
        turn: u32,
        /// Why.
        reason: CollapseReason,
        /// The limit before.
        previous_max_turns: u32,
        /// The limit now.
        new_max_turns: u32,
    },
    /// A question did not fit a context window.
    ContextGuard {
        /// The turn.
        turn: u32,
        /// The reaction.
        action: ContextAction,
    },
    /// A result was too long for the conversation and was stored.
    ResultStored {
        /// The turn.
        turn: u32,
        /// The tool.
        tool: String,
        /// Its length.
        bytes: u64,
    },
    /// A plan or an agent that was called has ended.
    ChildEnded(Box<ChildReport>),
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn: u32,
        /// The number of attempts.
        attempts: u32,
        /// How it ended.
        outcome: TurnOutcome,
        /// The duration in milliseconds.
        ms: u64,
    },
    /// The session ended with its report.
    Reported {
        /// The turn.
        turn: u32,
        /// The origin of the report.
        source: ReportSource,
        /// The status that the report states.
        status: ReportStatus,
        /// Why the turn was the final one.
        forced_final_reason: Option<FinalTurnReason>,
        /// Why the machine wrote the report.
        synthetic_reason: Option<SyntheticReason>,
        /// How many reports the model tried to give.
        final_report_attempts: u32,
        /// Why the session ended.
        exit: SessionExit,
        /// The status of the session in the journal.
        ended: Status,
        /// What was spent.
        spent: Box<Spent>,
    },
    /// An outcome arrived that the session no longer waits for.
    LateOutcome {
        /// The effect.
        id: EffectId,
    },
    /// Another process took the session over. Work in progress starts again.
    Resumed,
}

/// One attempt to ask a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The turn, from 1.
    pub turn: u32,
    /// The attempt in its turn, from 1.
    pub attempt: u32,
    /// The model target.
    pub target: TargetName,
    /// The outcome.
    pub status: AttemptStatus,
    /// The error, if the attempt failed.
    pub error: Option<String>,
    /// The reaction to the failure.
    pub directive: Option<RetryDirective>,
    /// The provider's stop reason.
    pub stop_reason: Option<String>,
    /// The token usage, if it is known.
    pub usage: Option<Usage>,
    /// The cost, if it is known.
    pub cost: Option<Money>,
    /// The duration.
    pub latency_ms: u64,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// The model answered.
    Answered(AnswerKind),
    /// The model did not answer.
    Failed(ErrorClass),
    /// The session was stopped or cancelled first.
    Abandoned,
}

impl AttemptStatus {
    /// The label: one of a closed set.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered(kind) => kind.as_str(),
            Self::Failed(class) => class.as_str(),
            Self::Abandoned => "abandoned",
        }
    }
}

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Tool calls.
    ToolCalls,
    /// The report.
    FinalReport,
    /// Text, without calls or a report.
    TextOnly,
    /// Neither text, reasoning nor calls.
    Empty,
    /// Only reasoning.
    ReasoningOnly,
    /// Truncated at the token limit.
    Truncated,
    /// Tool calls, none with readable arguments.
    MalformedCall,
    /// Tool calls, none of a tool that may be called.
    UnknownTool,
    /// A report that was rejected.
    ReportRejected,
    /// A refusal, or an answer that the provider blocked.
    Refused,
}

impl AnswerKind {
    /// All kinds.
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

    /// The label: one of a closed set.
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

/// The reaction to a question that does not fit a context window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextAction {
    /// The target is skipped because another one has a larger window.
    Skipped(TargetName),
    /// Older results were replaced by references.
    Compacted {
        /// How many.
        results: u32,
    },
    /// The oldest turns were dropped from the final one.
    Trimmed {
        /// How many.
        turns: u32,
    },
}

impl ContextAction {
    /// The label: one of a closed set.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Skipped(_) => "skipped",
            Self::Compacted { .. } => "compacted",
            Self::Trimmed { .. } => "trimmed",
        }
    }
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitEnd {
    /// The time was up.
    Completed,
    /// The user stopped the session.
    AbortedStop,
    /// The session was cancelled, or its time limit was reached.
    AbortedCancel,
}

/// Why a call was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// Its arguments are unreadable.
    Malformed,
    /// No such tool exists.
    Unknown,
    /// The final turn does not allow it.
    NotPermitted,
}

/// Why the remaining turns were reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollapseReason {
    /// The model gave a report that was rejected.
    FinalReportAttempt,
    /// The model gave a report without content, or a truncated one.
    IncompleteFinalReport,
}

impl CollapseReason {
    /// The label: one of a closed set.
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
    /// The report was given.
    FinalReport,
    /// Every attempt failed.
    Failed,
    /// The session was stopped or cancelled.
    Stopped,
}

impl TurnOutcome {
    /// The label: one of a closed set.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool_calls",
            Self::FinalReport => "final_report",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}
