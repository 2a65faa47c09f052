//! Decisions of a run.

use std::sync::Arc;

use reknit_expressions::Provenance;
use reknit_mend::{Advice, CallFault, Mend, ModelRung};
use reknit_model_api::ModelAnswer;
use reknit_plan::ToolSelection;
use reknit_protocol::{
    CallTool, CapabilityName, EffectId, Object, StepId, ToolName, ToolReply, TransportFailure, TransportKind,
};

use serde::{Deserialize, Serialize};

use crate::answer::Status;
use crate::budget::Spent;
use crate::business_key::{KeyFinding, KeySettlement};
use crate::effect::AskPerson;
use crate::event::{DecidedBy, Decision};
use crate::metadata::Metadata;

/// Why a model's text was rejected as a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanRejection {
    /// It cannot be read as a plan.
    Unreadable,
    Problems,
}

/// A decision of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunRecord {
    Started {
        request: String,
        /// Whether the plan was given, and not requested from a model.
        has_plan: bool,
        metadata: Metadata,
    },
    /// Another process took the run over. Work in progress starts again.
    Resumed,
    /// A run that had ended goes on: its failed and skipped steps are tried again.
    Retried {
        /// How often the run was retried, this time included.
        times: u32,
        request: String,
        /// Whether the plan was given, and not requested from a model.
        has_plan: bool,
        metadata: Metadata,
        steps: usize,
    },
    /// The planner is shown a part of the catalogue.
    ToolsSelected(ToolSelection),
    /// A model's text was accepted as the plan, or a given plan passed its checks.
    PlanAccepted {
        steps: usize,
        /// The repairs that made the text readable and the names correct.
        repairs: Vec<String>,
    },
    /// A model's text was rejected as a plan.
    PlanRejected {
        /// The number of the attempt, from 1.
        attempt: u32,
        /// Whether the text could be read as a plan.
        cause: PlanRejection,
        problems: Vec<String>,
        /// Whether a model is asked again.
        will_retry: bool,
    },
    /// Steps failed that nothing could mend: the planner is asked for a plan of what is missing.
    Replanning {
        /// How often it was asked for one, this time included.
        times: usize,
        failed: Vec<StepId>,
    },
    /// There is no plan of what is missing. The run ends with what it has.
    ReplanningGivenUp {
        reason: String,
    },
    /// The dependencies of a step are done, or one of them cannot be.
    StepStarted(StepDescription),
    /// The parameters of a step were bound.
    StepBound {
        step: StepId,
        provenance: Vec<(String, Provenance)>,
        /// How many values had to be changed to fit the schema.
        coercions: usize,
    },
    CallStarted(Arc<CallTool>),
    /// A tool call came to an end and was classified.
    CallEnded {
        call: Arc<CallTool>,
        end: CallEnd,
        /// The fault, if the call failed.
        fault: Option<Arc<CallFault>>,
    },
    /// A tool call was not made because the tool's circuit breaker is open or the tool is at its limit.
    CallSkipped {
        id: EffectId,
        /// When it can be made, in milliseconds since 1970.
        until_ms: i64,
    },
    /// A tool call was not made, because of what the journal knows about its business key.
    KeyFound {
        id: EffectId,
        finding: KeyFinding,
    },
    /// The journal stores what became of the deed of a call, together with the event that decided it.
    KeySettled {
        /// The call. It has a business key.
        call: Arc<CallTool>,
        settlement: KeySettlement,
    },
    /// A rung that asks a model was entered.
    RungStarted(RungStart),
    AdviceRead {
        step: StepId,
        rung: ModelRung,
        /// The advice, or why the answer cannot be read.
        advice: Result<Arc<Advice>, String>,
        /// The text of the answer.
        answer: Arc<ModelAnswer>,
    },
    /// A rung changed a call, sent it again, or could not help.
    Mended {
        step: StepId,
        /// What was done, or why nothing could be done.
        mend: Mend,
        detail: MendDetail,
    },
    /// A call was rejected after the last correction by feedback.
    FeedbackExhausted(StepId),
    WaitStarted {
        id: EffectId,
        /// Until when, in milliseconds since 1970.
        until_ms: i64,
        reason: WaitReason,
    },
    WaitEnded(EffectId),
    /// A job has ended, or the run stopped waiting for it.
    JobEnded {
        id: EffectId,
        /// How often the tool was asked for its state.
        asked: u32,
    },
    ApprovalRequested(Arc<AskPerson>),
    /// A person decided, or the time to decide ran out.
    ApprovalDecided {
        id: EffectId,
        decision: Decision,
        by: DecidedBy,
        /// Whether the decision is a denial because the time ran out.
        expired: bool,
    },
    /// A person changed the parameters of a call, and the call cannot be sent with them. The question stays open.
    EditRefused {
        id: EffectId,
        reason: String,
    },
    StepEnded {
        step: StepId,
        end: StepEnd,
        calls: u32,
        /// How many entries the step's list of repairs has.
        mends: usize,
    },
    /// An outcome arrived that the run no longer waits for.
    LateOutcome(EffectId),
    Ended {
        status: Status,
        /// Why, where the status does not say it.
        reason: String,
        steps: usize,
        spent: Box<Spent>,
    },
}

impl RunRecord {
    /// The step that the decision is about.
    pub(super) fn step(&self) -> Option<&StepId> {
        match self {
            Self::StepStarted(StepDescription { step, .. })
            | Self::StepBound { step, .. }
            | Self::RungStarted(RungStart { step, .. })
            | Self::AdviceRead { step, .. }
            | Self::Mended { step, .. }
            | Self::FeedbackExhausted(step)
            | Self::StepEnded { step, .. } => Some(step),
            Self::CallStarted(call) | Self::CallEnded { call, .. } | Self::KeySettled { call, .. } => Some(&call.step),
            Self::ApprovalRequested(ask) => Some(&ask.step),
            Self::CallSkipped { id, .. }
            | Self::KeyFound { id, .. }
            | Self::WaitStarted { id, .. }
            | Self::WaitEnded(id)
            | Self::JobEnded { id, .. }
            | Self::ApprovalDecided { id, .. }
            | Self::EditRefused { id, .. }
            | Self::LateOutcome(id) => id.step(),
            // About the run as a whole.
            _ => None,
        }
    }
}

/// A step, as records name it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDescription {
    pub step: StepId,
    pub tool: ToolName,
    pub capability: CapabilityName,
    pub instruction: String,
}

/// The start of a rung that asks a model.
#[derive(Debug, Clone, PartialEq)]
pub struct RungStart {
    pub step: StepId,
    pub rung: ModelRung,
    /// How often the step has used the rung, this time included.
    pub uses: u32,
    pub fault: Arc<CallFault>,
    /// Whether the error says that a value has the wrong type.
    pub is_type_error: bool,
    /// The names of the values that the model is shown: `price.amount`, or `price` for a result without fields.
    pub source_keys: Vec<String>,
    /// Whether the step depends on no other step.
    pub is_independent: bool,
}

/// How a tool call ended on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEnd {
    Replied {
        status: u16,
        /// The repairs that made the body readable.
        fixes: Vec<String>,
    },
    Failed {
        kind: TransportKind,
        message: String,
    },
    /// The process that made the call ended, or the run stopped waiting for it.
    Interrupted,
}

impl CallEnd {
    pub(crate) fn of_reply(reply: &ToolReply) -> Self {
        Self::Replied { status: reply.status, fixes: reply.body.fixes().to_vec() }
    }

    pub(crate) fn of_failure(failure: &TransportFailure) -> Self {
        Self::Failed { kind: failure.kind, message: failure.message.clone() }
    }

    /// The HTTP status, if the tool replied.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Replied { status, .. } => Some(*status),
            Self::Failed { .. } | Self::Interrupted => None,
        }
    }
}

/// What a rung decided in detail.
#[derive(Debug, Clone, PartialEq)]
pub enum MendDetail {
    /// A check or a person told whether the call took effect, or the check could not tell.
    Settled,
    /// Values were coerced to fit the schema.
    Coerced { values: usize },
    /// A rule changed the call, or could not.
    ByRule,
    /// A rule that was learned in earlier runs changed the call.
    ByLearnedRule { rule: String },
    /// A learned rule could not change the call.
    NoLearnedRule,
    /// The tool rejected what a learned rule sent. The rule is not used again.
    RuleRejected { rule: String },
    Resent {
        /// How often, this time included.
        times: u32,
        fault: Arc<CallFault>,
    },
    /// A value was found where an earlier run found it.
    Learned,
    /// The plan leaves a value open, and a result has a field of that name.
    Wired,
    /// The text of a model's call was changed to read it.
    Read,
    ByModel {
        /// How often the step has used the rung.
        uses: u32,
        /// The parameters after the change.
        parameters: Object,
        analysis: String,
        /// The text of the answer.
        answer: Option<Arc<ModelAnswer>>,
    },
    /// A model's answer was not applied.
    NotByModel {
        /// How often the step has used the rung.
        uses: u32,
        cause: RejectionCause,
    },
}

/// Why a rung that asks a model could not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionCause {
    NoAnswer,
    /// The answer cannot be read.
    Unreadable,
    /// The model advises to send the same call again, and the retries are spent.
    ResendsSpent,
    /// The model's advice is not to try again, or was refused.
    Refused,
}

/// Why a run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// Backoff before a call is sent again.
    Retry,
    BreakerOpen,
    /// The outcome of another call with the same business key is unknown.
    KeyHeld,
    /// The tool works on a job that the call started.
    Job,
    /// The result is not yet as wished, and the plan says how long to wait before the call is made again.
    Poll,
    /// Every model target is at its limit or has an open circuit breaker.
    ModelsUnavailable,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEnd {
    Done,
    Failed {
        /// The last error, if there was one.
        error: Option<String>,
        /// Why nothing more is tried.
        reason: String,
    },
    /// The call was made, but its result or its effect is not as the plan expects.
    Unconfirmed {
        reason: String,
    },
    /// It never started, or stopped before anything was sent.
    Skipped {
        reason: String,
    },
}
