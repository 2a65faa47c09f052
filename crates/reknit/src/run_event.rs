//! What happens in a run, for programs that watch it: its events, and the text of its answer while it is written.

use std::fmt;
use std::sync::Arc;

use reknit_engine::{
    AskPerson, CallEnd, Decision, Ending, ModelRecord, Record, RecordKind, RunRecord, SessionRecord, Status, StepEnd,
    event_json,
};
use reknit_mend::{CallFault, Mend, MendAction};
use reknit_model_api::{ModelAnswer, Purpose, TargetName};
use reknit_protocol::{CallTool, EffectId, Object, RunId, ScopeLevel, StepId};
use serde::{Deserialize, Serialize};

/// How far somebody has read the events of a run. Store it to go on from there later, also in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventCursor(pub u64);

/// Something that happened in a run, after it was stored in the journal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunEvent {
    /// The position behind this event.
    pub cursor: EventCursor,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// Where it happened, if not in the run itself but in a plan or an agent that a session called.
    pub scope: Vec<ScopeLevel>,
    /// What happened.
    pub kind: RunEventKind,
    record: Record,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunEventKind {
    /// The run began.
    Started {
        /// The request, or the input of an agent.
        request: String,
    },
    /// A plan passed its checks.
    PlanAccepted {
        /// The number of its steps.
        steps: usize,
    },
    /// A model's text was rejected as a plan.
    PlanRejected {
        /// Why.
        problems: Vec<String>,
    },
    /// Steps failed that nothing could mend: the planner is asked for a plan of what is missing.
    Replanning {
        /// The failed steps.
        failed: Vec<StepId>,
    },
    /// A model is asked.
    ModelAsked {
        /// The model.
        target: TargetName,
        /// What it is asked for.
        purpose: Purpose,
    },
    /// A model answered. What the answer is worth shows later.
    ModelAnswered(Arc<ModelAnswer>),
    /// A model did not answer, or its answer cannot be used.
    ModelFailed {
        /// Why.
        reason: String,
    },
    /// A step began.
    StepStarted {
        /// The step.
        step: StepId,
    },
    /// A tool is called.
    CallStarted(Arc<CallTool>),
    /// A call came to an end.
    CallEnded {
        /// The call.
        call: Arc<CallTool>,
        /// How it ended on the wire.
        end: CallEnd,
        /// Why it failed; `None` for a success.
        fault: Option<Arc<CallFault>>,
    },
    /// A call was changed or is sent again, or could not be mended.
    Mended {
        /// The step.
        step: StepId,
        /// The change.
        mend: Mend,
    },
    /// The run waits before it tries something again.
    WaitStarted {
        /// Until when, in milliseconds since 1970.
        until_ms: i64,
    },
    /// A person is asked. See [`RunHandle::decide`](crate::RunHandle::decide).
    QuestionAsked(Arc<AskPerson>),
    /// A person decided, or the time to decide ran out.
    QuestionDecided {
        /// The question.
        question: EffectId,
        /// The decision.
        decision: Decision,
    },
    /// A step is over.
    StepEnded {
        /// The step.
        step: StepId,
        /// How it ended.
        end: StepEnd,
    },
    /// A session began another turn.
    TurnStarted(u32),
    /// The user went on with a session after its report.
    FollowedUp {
        /// The message.
        input: String,
    },
    /// The run ended.
    Ended(Status),
    /// Something else, as the engine recorded it.
    Other(Box<Record>),
}

impl RunEvent {
    pub(crate) fn new(cursor: EventCursor, at_ms: i64, record: &Record) -> Self {
        Self { cursor, at_ms, scope: record.scope.clone(), kind: RunEventKind::of(record), record: record.clone() }
    }

    /// The event as a JSON object, as `reknit run --events` prints it; `None` for one that only the engine needs.
    pub fn to_json(&self, run: &RunId) -> Option<Object> {
        event_json(run, self.at_ms, &self.record)
    }
}

impl RunEventKind {
    fn of(record: &Record) -> Self {
        let known = match &record.kind {
            RecordKind::Model(model) => Self::of_model(model),
            RecordKind::Run(run) => Self::of_run(run),
            RecordKind::Session(session) => Self::of_session(session),
        };
        known.unwrap_or_else(|| Self::Other(Box::new(record.clone())))
    }

    fn of_model(record: &ModelRecord) -> Option<Self> {
        Some(match record {
            ModelRecord::Asked(question) => {
                Self::ModelAsked { target: question.target.clone(), purpose: question.purpose }
            }
            ModelRecord::Failed { failure, .. } | ModelRecord::Answered { failure: Some(failure), .. } => {
                Self::ModelFailed { reason: failure.to_string() }
            }
            ModelRecord::Answered { answer, failure: None, .. } => Self::ModelAnswered(Arc::clone(answer)),
            ModelRecord::Skipped { .. } => return None,
        })
    }

    fn of_run(record: &RunRecord) -> Option<Self> {
        Some(match record {
            RunRecord::Started { request, .. } => Self::Started { request: request.clone() },
            RunRecord::PlanAccepted { steps, .. } => Self::PlanAccepted { steps: *steps },
            RunRecord::PlanRejected { problems, .. } => Self::PlanRejected { problems: problems.clone() },
            RunRecord::Replanning { failed, .. } => Self::Replanning { failed: failed.clone() },
            RunRecord::StepStarted(description) => Self::StepStarted { step: description.step.clone() },
            RunRecord::CallStarted(call) => Self::CallStarted(Arc::clone(call)),
            RunRecord::CallEnded { call, end, fault } => {
                Self::CallEnded { call: Arc::clone(call), end: end.clone(), fault: fault.clone() }
            }
            RunRecord::Mended { step, mend, .. } => Self::Mended { step: step.clone(), mend: mend.clone() },
            RunRecord::WaitStarted { until_ms, .. } => Self::WaitStarted { until_ms: *until_ms },
            RunRecord::ApprovalRequested(question) => Self::QuestionAsked(Arc::clone(question)),
            RunRecord::ApprovalDecided { id, decision, .. } => {
                Self::QuestionDecided { question: id.clone(), decision: decision.clone() }
            }
            RunRecord::StepEnded { step, end, .. } => Self::StepEnded { step: step.clone(), end: end.clone() },
            RunRecord::Ended { status, .. } => Self::Ended(*status),
            _ => return None,
        })
    }

    fn of_session(record: &SessionRecord) -> Option<Self> {
        Some(match record {
            SessionRecord::Started { input, .. } => Self::Started { request: input.clone() },
            SessionRecord::FollowedUp { input, .. } => Self::FollowedUp { input: input.clone() },
            SessionRecord::TurnStarted(turn) => Self::TurnStarted(*turn),
            SessionRecord::Reported(report) => Self::Ended(Ending::Report(report).status()),
            _ => return None,
        })
    }
}

impl fmt::Display for RunEvent {
    /// One line about the event, indented if it happened in a plan or an agent that was called.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scope.iter().try_for_each(|_| out.write_str("  "))?;
        match &self.kind {
            RunEventKind::Started { request } => write!(out, "started: {request}"),
            RunEventKind::PlanAccepted { steps } => write!(out, "plan accepted: {steps} steps"),
            RunEventKind::PlanRejected { problems } => write!(out, "plan rejected: {}", problems.join("; ")),
            RunEventKind::Replanning { failed } => {
                let failed: Vec<&str> = failed.iter().map(StepId::as_str).collect();
                write!(out, "planning again: {} failed", failed.join(", "))
            }
            RunEventKind::ModelAsked { target, purpose } => write!(out, "model {target} asked: {purpose}"),
            RunEventKind::ModelAnswered(answer) => write!(out, "model answered: {} tokens", answer.usage.output_tokens),
            RunEventKind::ModelFailed { reason } => write!(out, "model failed: {reason}"),
            RunEventKind::StepStarted { step } => write!(out, "step {step} started"),
            RunEventKind::CallStarted(call) => {
                write!(out, "call {}/{} with {}", call.tool, call.capability, call.parameters)
            }
            RunEventKind::CallEnded { call, fault: None, .. } => {
                write!(out, "call {}/{} succeeded", call.tool, call.capability)
            }
            RunEventKind::CallEnded { call, fault: Some(fault), .. } => {
                write!(out, "call {}/{} failed: {fault}", call.tool, call.capability)
            }
            RunEventKind::Mended { step, mend } => match mend.action() {
                MendAction::Changed => {
                    write!(out, "step {step} changed by {}: {}", mend.rung.as_str(), mend.description)
                }
                MendAction::SentAgain => write!(out, "step {step} is {}", mend.description),
                MendAction::Settled => write!(out, "step {step} settled: {}", mend.description),
                MendAction::NoHelp => {
                    write!(out, "step {step}: no help by {}: {}", mend.rung.as_str(), mend.description)
                }
            },
            RunEventKind::WaitStarted { until_ms } => write!(out, "waits until {until_ms}"),
            RunEventKind::QuestionAsked(question) => write!(out, "step {} waits for a person", question.step),
            RunEventKind::QuestionDecided { decision, .. } => write!(out, "a person decided: {}", decision.as_str()),
            RunEventKind::StepEnded { step, end: StepEnd::Done } => write!(out, "step {step} done"),
            RunEventKind::StepEnded { step, end: StepEnd::Failed { reason, .. } } => {
                write!(out, "step {step} failed: {reason}")
            }
            RunEventKind::StepEnded { step, end: StepEnd::Unconfirmed { reason } } => {
                write!(out, "step {step} unconfirmed: {reason}")
            }
            RunEventKind::StepEnded { step, end: StepEnd::Skipped { reason } } => {
                write!(out, "step {step} skipped: {reason}")
            }
            RunEventKind::FollowedUp { input } => write!(out, "message: {input}"),
            RunEventKind::TurnStarted(turn) => write!(out, "turn {turn}"),
            RunEventKind::Ended(status) => write!(out, "ended: {status}"),
            RunEventKind::Other(_) => out.write_str("other"),
        }
    }
}

/// A piece of the text of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextPiece {
    /// More text.
    Text(String),
    /// Discard all pieces so far: the attempt failed, and the text starts over.
    Restarted,
}

impl TextPiece {
    /// The text; `None` for [`TextPiece::Restarted`].
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Restarted => None,
        }
    }
}
