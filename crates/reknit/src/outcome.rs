//! How a run ended.

use std::sync::Arc;

use reknit_engine::{Answer, Ending, Outcome, Report, Spent, Status, StepReport};
use reknit_mend::{CallFault, Fate, Rung};
use reknit_protocol::{CapabilityName, Object, RunId, StepId, ToolName, Value};
use reknit_runtime::{DriveError, DriveOutcome};
use serde::de::DeserializeOwned;

use crate::run_event::{RunEvent, RunEventKind};

/// The result of a run or session that did everything that it was asked for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunAnswer {
    /// The run.
    pub run: RunId,
    /// The answer or the report.
    pub result: RunResult,
}

/// The answer of a run, or the report of a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunResult {
    /// The answer of a run.
    Answer(Box<Answer>),
    /// The report of a session.
    Report(Box<Report>),
}

/// A call that was changed or sent again, and succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppliedMend {
    /// The step of a run, or the call of a session: `call-2`.
    pub call: String,
    /// What mended it.
    pub rung: Rung,
    /// What was changed, and why.
    pub description: String,
}

/// Why there is no typed output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The run has no such value.
    #[error("the run has no {0}")]
    Missing(String),
    /// The value does not have the type. The source says where.
    #[error("{value} does not have the type that the program expects")]
    Type {
        /// The value.
        value: String,
        /// Why.
        source: serde_json::Error,
    },
}

impl RunResult {
    /// The answer or the report, with what holds for both: the status and the shortcomings.
    pub fn ending(&self) -> Ending<'_> {
        match self {
            Self::Answer(answer) => Ending::Answer(answer),
            Self::Report(report) => Ending::Report(report),
        }
    }

    /// The calls that were changed or sent again, and succeeded.
    pub fn mends(&self) -> Vec<AppliedMend> {
        match self {
            Self::Answer(answer) => {
                let mended = answer.steps.iter().flat_map(|report| report.mended().map(move |mend| (report, mend)));
                mended.map(|(report, mend)| applied_mend(report.step.as_str(), mend.rung, &mend.description)).collect()
            }
            Self::Report(report) => {
                report.mended.iter().map(|mended| applied_mend(&mended.call, mended.rung, &mended.change)).collect()
            }
        }
    }
}

impl RunAnswer {
    /// The text for the user.
    pub fn text(&self) -> &str {
        match &self.result {
            RunResult::Answer(answer) => &answer.text,
            RunResult::Report(report) => &report.content,
        }
    }

    /// The output as a type: the outputs of the plan, or else the result of its last step; of a session, the JSON of its report.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        match &self.result {
            RunResult::Report(report) => match &report.content_json {
                Some(json) => typed(json),
                None => Err(OutputError::Missing("report in JSON".to_owned())),
            },
            RunResult::Answer(answer) if !answer.outputs.is_empty() => typed(&Value::Object(answer.outputs.clone())),
            RunResult::Answer(answer) => match answer.steps.last() {
                Some(step) => self.step_result(step.step.as_str()),
                None => Err(OutputError::Missing("step".to_owned())),
            },
        }
    }

    /// The result of a step as a type of the program: what its tool returned.
    pub fn step_result<T: DeserializeOwned>(&self, step: &str) -> Result<T, OutputError> {
        let missing = || OutputError::Missing(format!("result of step `{step}`"));
        let RunResult::Answer(answer) = &self.result else { return Err(missing()) };
        let report = answer.steps.iter().find(|report| report.step.as_str() == step).ok_or_else(missing)?;
        let Outcome::Done(result) = &report.outcome else { return Err(missing()) };
        typed(data_of(result.try_load().ok_or_else(missing)?.as_ref()))
    }

    /// The calls that were changed or sent again, and succeeded.
    pub fn mends(&self) -> Vec<AppliedMend> {
        self.result.mends()
    }

    /// What the run spent.
    pub fn spent(&self) -> &Spent {
        match &self.result {
            RunResult::Answer(answer) => &answer.spent,
            RunResult::Report(report) => &report.spent,
        }
    }
}

fn applied_mend(call: &str, rung: Rung, description: &str) -> AppliedMend {
    AppliedMend { call: call.to_owned(), rung, description: description.to_owned() }
}

/// What a tool returned, without the envelope `{"success": true, "data": ..}` of the tool protocol.
fn data_of(result: &Value) -> &Value {
    let is_envelope = result.as_object().is_some_and(|object| object.len() == 2);
    let is_success = result.get("success").and_then(Value::as_bool) == Some(true);
    result.get("data").filter(|_| is_envelope && is_success).unwrap_or(result)
}

/// Goes through text, which keeps every digit for types that read them.
fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, OutputError> {
    let text = value.to_string();
    serde_json::from_str(&text).map_err(|source| OutputError::Type { value: text, source })
}

/// Why a run has no complete answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run ended, and not with everything that it was asked for.
    #[error(transparent)]
    Failed(Box<RunFailure>),
    /// The run could not be driven any further. What it did is in the journal, and it can be resumed.
    #[error("the run could not be driven to its end")]
    NotDriven(#[source] Arc<DriveError>),
}

impl RunError {
    pub(crate) fn not_driven(error: DriveError) -> Self {
        Self::NotDriven(Arc::new(error))
    }

    /// The failure of a run that ended.
    pub fn failure(&self) -> Option<&RunFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::NotDriven(_) => None,
        }
    }
}

/// A run that ended without everything that it was asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the run ended as {status}{}", self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
#[non_exhaustive]
pub struct RunFailure {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub status: Status,
    /// Why, in words.
    pub reason: Option<String>,
    /// What the user is told.
    pub text: String,
    /// The steps that failed, with all attempts.
    pub steps: Vec<FailedStep>,
    /// The whole answer or report, with the results of the steps that succeeded.
    pub result: RunResult,
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FailedStep {
    /// The step.
    pub step: StepId,
    /// The tool.
    pub tool: ToolName,
    /// The tool's capability.
    pub capability: CapabilityName,
    /// Why nothing more was tried.
    pub reason: String,
    /// Whether its call may have taken effect.
    pub fate: Fate,
    /// Its calls, in order.
    pub attempts: Vec<CallAttempt>,
}

impl FailedStep {
    /// The fault of the last call that failed.
    pub fn fault(&self) -> Option<&CallFault> {
        self.attempts.iter().rev().find_map(|attempt| attempt.fault.as_deref())
    }

    /// The error code of the tool, such as `LOCATION_NOT_FOUND`; empty if it gave none.
    pub fn code(&self) -> &str {
        self.fault().map_or("", |fault| &fault.code)
    }
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallAttempt {
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// What was sent.
    pub parameters: Object,
    /// Why it failed; `None` for a success.
    pub fault: Option<Arc<CallFault>>,
}

/// The outcome of a run that has ended. Only a complete one is an answer.
pub(crate) fn outcome_of(run: &RunId, outcome: DriveOutcome, events: &[RunEvent]) -> Result<RunAnswer, RunError> {
    let (status, reason, text, result) = match outcome {
        DriveOutcome::Finished(answer) => {
            (answer.status, answer.reason.clone(), answer.text.clone(), RunResult::Answer(answer))
        }
        DriveOutcome::Reported(report) => {
            let reason = report.synthetic_reason.as_ref().map(ToString::to_string);
            (Ending::Report(&report).status(), reason, report.content.clone(), RunResult::Report(report))
        }
        DriveOutcome::Waiting => return Err(RunError::not_driven(DriveError::Abandoned)),
    };
    let run = run.clone();
    if status == Status::Complete {
        return Ok(RunAnswer { run, result });
    }
    let steps = match &result {
        RunResult::Answer(answer) => failed_steps(answer, events),
        RunResult::Report(_) => Vec::new(),
    };
    Err(RunError::Failed(Box::new(RunFailure { run, status, reason, text, steps, result })))
}

fn failed_steps(answer: &Answer, events: &[RunEvent]) -> Vec<FailedStep> {
    let failed = answer.steps.iter().filter_map(|report| match &report.outcome {
        Outcome::Failed { reason, fate } => Some((report, reason, *fate)),
        // The call was made, and its effect is unknown.
        Outcome::Unconfirmed { reason, .. } => Some((report, reason, Fate::Unknown)),
        Outcome::Done(_) | Outcome::Skipped { .. } => None,
    });
    let step = |(report, reason, fate): (&StepReport, &String, Fate)| FailedStep {
        step: report.step.clone(),
        tool: report.tool.clone(),
        capability: report.capability.clone(),
        reason: reason.clone(),
        fate,
        attempts: attempts(&report.step, events),
    };
    failed.map(step).collect()
}

fn attempts(step: &StepId, events: &[RunEvent]) -> Vec<CallAttempt> {
    let own = events.iter().filter(|event| event.scope.is_empty());
    let attempt = |event: &RunEvent| match &event.kind {
        RunEventKind::CallEnded { call, fault, .. } if call.step == *step => {
            let (parameters, fault) = (call.parameters.clone(), fault.clone());
            Some(CallAttempt { at_ms: event.at_ms, parameters, fault })
        }
        _ => None,
    };
    own.filter_map(attempt).collect()
}
