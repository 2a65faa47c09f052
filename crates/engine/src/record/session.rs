//! Decisions of a session.

use reknit_model_api::{ErrorClass, Money, TargetName, Usage};
use reknit_protocol::{EffectId, word_enum};
use reknit_salvage::TextCallForm;
use serde::{Deserialize, Serialize};

use super::directive::RetryDirective;
use crate::metadata::Metadata;
use crate::report::{ChildReport, FinalTurnReason, RepeatedCall, Report, ReportSource};

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
        /// The metadata of the request.
        metadata: Metadata,
    },
    /// The user went on with the session after its report.
    FollowedUp {
        /// The number of the message; the question that started the session is number 1.
        number: u32,
        /// The message.
        input: String,
        /// The agent.
        agent: String,
        /// The metadata of the request.
        metadata: Metadata,
    },
    /// A turn started; the first one is turn 1.
    TurnStarted(u32),
    /// An attempt to ask a model is over.
    Attempt(Box<Attempt>),
    /// The session waits before the next attempt.
    WaitStarted {
        /// The turn.
        turn: u32,
        /// The planned length, in milliseconds.
        ms: u64,
        /// What it waits for.
        reason: ModelWaitReason,
    },
    /// A wait ended.
    WaitEnded {
        /// The turn.
        turn: u32,
        /// The actual length, in milliseconds.
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
    /// A call that a model wrote as text is made.
    CallInText {
        /// The turn.
        turn: u32,
        /// The tool, as the model named it.
        tool: String,
        /// How it was written.
        form: TextCallForm,
    },
    /// A provider refused the output limit and stated a smaller one, which is used from now on.
    OutputLimitLearned {
        /// The turn.
        turn: u32,
        /// The target.
        target: TargetName,
        /// The limit, in tokens.
        max_tokens: u32,
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
    /// A call repeats one with a side effect that succeeded.
    CallRepeated(Box<RepeatedCall>),
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
    Reported(Box<Report>),
    /// An outcome arrived that the session no longer waits for.
    LateOutcome(EffectId),
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

word_enum! {
    /// The kind of an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AnswerKind {
        /// Tool calls.
        ToolCalls = "tool_calls",
        /// The report.
        FinalReport = "final_report",
        /// Text, without calls or a report.
        TextOnly = "text_only",
        /// Neither text, reasoning nor calls.
        Empty = "empty_response",
        /// Only reasoning.
        ReasoningOnly = "reasoning_only",
        /// Truncated at the token limit.
        Truncated = "truncated",
        /// Tool calls, none with readable arguments.
        MalformedCall = "malformed_tool_call",
        /// Tool calls, none of a tool that may be called.
        UnknownTool = "unknown_tool",
        /// A report that was rejected.
        ReportRejected = "final_report_rejected",
        /// A refusal, or an answer that the provider blocked.
        Refused = "refused",
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

word_enum! {
    /// What a session waits for before it asks a model again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ModelWaitReason {
        /// Every target is at its rate limit.
        RateLimit = "rate_limit",
        /// The circuit breaker of every target is open.
        BreakerOpen = "breaker_open",
        /// The only target failed, and a pause may help.
        Failure = "failure",
    }
}

word_enum! {
    /// Why a wait ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WaitEnd {
        /// The time was up.
        Completed = "completed",
        /// The user stopped the session, or only the time for the final turn was left.
        AbortedStop = "aborted_stop",
        /// The session was cancelled, or its time limit was reached.
        AbortedCancel = "aborted_cancel",
    }
}

word_enum! {
    /// Why a call was dropped.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DropReason {
        /// Its arguments are unreadable.
        Malformed = "malformed",
        /// No such tool exists.
        Unknown = "unknown",
        /// The final turn does not allow it.
        NotPermitted = "not_permitted",
    }
}

word_enum! {
    /// Why the remaining turns were reduced.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CollapseReason {
        /// The model gave a report that was rejected.
        FinalReportAttempt = "final_report_attempt",
        /// The model gave a report without content, or a truncated one.
        IncompleteFinalReport = "incomplete_final_report",
    }
}

word_enum! {
    /// How a turn ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TurnOutcome {
        /// Tools were called.
        ToolCalls = "tool_calls",
        /// The report was given.
        FinalReport = "final_report",
        /// Every attempt failed.
        Failed = "failed",
        /// The session was stopped or cancelled.
        Stopped = "stopped",
    }
}
