//! Decisions of a session.

use reknit_model_api::{ErrorClass, ModelWaitReason, Money, TargetName, Usage, WaitSource};
use reknit_protocol::{EffectId, word_enum};
use reknit_salvage::TextCallForm;
use serde::{Deserialize, Serialize};

use super::RetryDirective;
use crate::guard::Mandate;
use crate::metadata::Metadata;
use crate::notice::Notice;
use crate::report::{ChildReport, FinalTurnReason, RepeatedCall, Report, ReportSource};

/// A decision of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionRecord {
    Started {
        agent: String,
        input: String,
        metadata: Metadata,
    },
    /// The user went on with the session after its report.
    FollowedUp {
        /// The number of the message; the question that started the session is number 1.
        number: u32,
        input: String,
        agent: String,
        metadata: Metadata,
    },
    /// A turn started; the first one is turn 1.
    TurnStarted(u32),
    /// An attempt to ask a model is over.
    Attempt(Box<Attempt>),
    /// The session waits before the next attempt.
    WaitStarted {
        turn: u32,
        /// The planned length, in milliseconds.
        ms: u64,
        reason: ModelWaitReason,
        /// What states the length.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<WaitSource>,
    },
    WaitEnded {
        turn: u32,
        /// The actual length, in milliseconds.
        ms: u64,
        end: WaitEnd,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<ModelWaitReason>,
        /// What states the planned length.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<WaitSource>,
    },
    /// A model target was skipped because its circuit breaker is open or it is at its rate limit.
    TargetSkipped {
        turn: u32,
        target: TargetName,
        /// When the target can be asked again, in milliseconds since 1970.
        until_ms: i64,
    },
    /// With the guard on: a model said what the agent may change, before it read anything.
    MandateStated {
        turn: u32,
        mandate: Mandate,
        /// Whether the answer could be read. If not, nothing is permitted.
        is_read: bool,
    },
    /// A call that a model wrote as text is made.
    CallInText {
        turn: u32,
        /// The tool, as the model named it.
        tool: String,
        form: TextCallForm,
    },
    /// A provider refused the output limit and stated a smaller one, which is used from now on.
    OutputLimitLearned {
        turn: u32,
        target: TargetName,
        max_tokens: u32,
    },
    /// A call in an answer was dropped.
    CallDropped {
        turn: u32,
        /// The tool, as the model named it.
        tool: String,
        why: DropReason,
    },
    /// A fallback report was found. It is committed if the model gives no better one.
    FallbackReportFound {
        turn: u32,
        source: ReportSource,
    },
    /// The next attempts are given a notice.
    Noticed {
        turn: u32,
        notice: Notice,
    },
    FinalTurn {
        turn: u32,
        reason: FinalTurnReason,
    },
    /// The number of remaining turns was reduced.
    Collapsed {
        turn: u32,
        reason: CollapseReason,
        /// The limit before.
        previous_max_turns: u32,
        new_max_turns: u32,
    },
    /// A question did not fit a context window.
    ContextGuard {
        turn: u32,
        action: ContextAction,
    },
    /// A result was too long for the conversation and was stored.
    ResultStored {
        turn: u32,
        tool: String,
        bytes: u64,
    },
    /// A call repeats one with a side effect that succeeded.
    CallRepeated(Box<RepeatedCall>),
    /// A plan or an agent that was called has ended.
    ChildEnded(Box<ChildReport>),
    TurnEnded {
        turn: u32,
        attempts: u32,
        outcome: TurnOutcome,
        /// The duration in milliseconds.
        ms: u64,
    },
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
    pub target: TargetName,
    pub status: AttemptStatus,
    /// The error, if the attempt failed.
    pub error: Option<String>,
    pub directive: Option<RetryDirective>,
    pub stop_reason: Option<String>,
    /// The token usage, if it is known.
    pub usage: Option<Usage>,
    /// The cost, if it is known.
    pub cost: Option<Money>,
    pub latency_ms: u64,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
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
        ToolCalls = "tool_calls",
        FinalReport = "final_report",
        /// Text, without calls or a report.
        TextOnly = "text_only",
        /// Neither text, reasoning nor calls.
        Empty = "empty_response",
        ReasoningOnly = "reasoning_only",
        Truncated = "truncated",
        /// Tool calls, none with readable arguments.
        MalformedCall = "malformed_tool_call",
        /// Tool calls, none of a tool that may be called.
        UnknownTool = "unknown_tool",
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
    Compacted { results: u32 },
    /// The oldest turns were dropped from the final one.
    Trimmed { turns: u32 },
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
    /// Why a wait ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WaitEnd {
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
        Malformed = "malformed",
        Unknown = "unknown",
        /// The final turn does not allow it.
        NotPermitted = "not_permitted",
        /// The model wrote it as text, and the conversation contains it already.
        Quoted = "quoted",
        /// The model wrote it as text, and is asked for the real call.
        InText = "in_text",
    }
}

impl DropReason {
    /// Whether the call is only text of the answer.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Quoted | Self::InText)
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
        ToolCalls = "tool_calls",
        FinalReport = "final_report",
        Failed = "failed",
        Stopped = "stopped",
    }
}
