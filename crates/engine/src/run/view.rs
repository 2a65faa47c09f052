//! A run as people see it.

use reknit_expressions::Provenance;
use reknit_mend::{Mend, Rung, applied};
use reknit_plan::{PlannedStep, StepIndex, ToolSelection};
use reknit_protocol::{CapabilityName, EffectId, Object, RunId, StepId, ToolName, exact};
use serde::{Deserialize, Serialize};

use super::Run;
use super::knowledge::Reports;
use super::stage::Stage;
use super::state::Phase;
use super::step_run::StepRun;
use crate::effect::AskPerson;
use crate::record::WaitReason;

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A model selects the tools that the planner is shown.
    Selecting,
    /// A model is asked for a plan.
    Planning {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    Running,
    Answering,
    Ended,
}

/// A step as people see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    pub id: StepId,
    #[serde(rename = "agent")]
    pub tool: ToolName,
    pub capability: CapabilityName,
    pub instruction: String,
    pub needs: Vec<StepId>,
    /// The step with the loop, if this is one of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_of: Option<StepId>,
    /// The run with the session of its agent, if the step runs one and it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RunId>,
    pub state: StepState,
    /// Whether a second plan does in another way what the step was for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    pub mends: Vec<Mend>,
    pub calls: u32,
    /// The parameters that were sent last or are sent next.
    #[serde(with = "exact")]
    pub parameters: Object,
    pub provenance: Vec<(String, Provenance)>,
}

impl StepView {
    /// What mended the step: it failed, or its values did not fit, and it is done.
    pub fn mended(&self) -> impl Iterator<Item = &Mend> {
        applied(&self.mends, self.calls).filter(|_| self.state == StepState::Done)
    }

    /// What was changed or sent again so far in a step that is not done.
    pub fn tried(&self) -> impl Iterator<Item = &Mend> {
        applied(&self.mends, self.calls).filter(|_| self.state != StepState::Done)
    }
}

/// The state of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Waiting,
    Queued,
    Running,
    Looping {
        items: u32,
        /// How many of them have a result.
        done: usize,
        /// How many of them failed or were skipped.
        failed: usize,
    },
    /// It waits before the same call is sent again.
    BackingOff {
        /// The end of the wait, in milliseconds since 1970.
        until_ms: i64,
    },
    /// Its result is not yet as wished: it waits before the call is made again.
    Polling {
        polls: u32,
        /// The end of the wait, in milliseconds since 1970.
        until_ms: i64,
    },
    /// The circuit breaker of its tool is open, or the tool is at its limit.
    BreakerOpen {
        /// When the call can be made, in milliseconds since 1970.
        until_ms: i64,
    },
    /// The outcome of another call with the same business key is unknown.
    KeyHeld {
        /// The run that made the other call.
        by: RunId,
        /// When the journal is asked again, in milliseconds since 1970.
        until_ms: i64,
    },
    /// A model is asked how to repair the call.
    Mending(Rung),
    /// A tool is asked whether the call took effect.
    Checking,
    AwaitingJob {
        /// Since when, in milliseconds since 1970.
        since_ms: i64,
        asked: u32,
        /// Why the last question was not answered.
        problem: Option<String>,
    },
    AwaitingApproval(Box<AskPerson>),
    /// A tool is asked whether the call had the wished effect.
    Verifying,
    Done,
    Failed {
        reason: String,
    },
    /// The call was made, but its result or its effect is not as the plan expects.
    Unconfirmed {
        reason: String,
    },
    Skipped {
        reason: String,
    },
}

impl Run {
    /// The phase of the run.
    pub fn progress(&self) -> Progress {
        match &self.state.phase {
            Phase::Selecting { .. } => Progress::Selecting,
            Phase::Planning { attempt, .. } => Progress::Planning { attempt: *attempt },
            Phase::Running => Progress::Running,
            Phase::Answering { .. } => Progress::Answering,
            Phase::Ended(_) => Progress::Ended,
        }
    }

    /// The tools that the planner was shown, if the catalogue was too large for all of them.
    pub fn tool_selection(&self) -> Option<&ToolSelection> {
        self.state.planning.choice.as_ref()
    }

    /// The steps that are written in the plan, without the items of loops.
    pub fn written_steps(&self) -> Vec<StepView> {
        let steps = self.plan.indices().zip(self.plan.written_steps());
        steps
            .filter_map(|(index, planned)| {
                Some(self.known().reports().view(planned, self.state.steps.get(index).ok()?, index))
            })
            .collect()
    }

    /// How many steps are written in the plan.
    pub fn written_step_count(&self) -> usize {
        self.plan.written_steps().len()
    }

    /// The steps of the plan, each loop followed by its items.
    pub fn steps(&self) -> Vec<StepView> {
        let view =
            |index| Some(self.known().reports().view(self.plan.get(index)?, self.state.steps.get(index).ok()?, index));
        self.state.steps.in_order().filter_map(view).collect()
    }

    /// Whether the run waits for the reply to a call, or for the end of a job that the call has started.
    pub fn awaits_call(&self, call: &EffectId) -> bool {
        let index = call.step().and_then(|step| self.plan.index_of(step.as_str()));
        let step = index.and_then(|index| self.state.steps.get(index).ok());
        let awaited = step.and_then(|step| match step.stage() {
            Stage::Calling(call) | Stage::Stopping(call) => Some(&call.id),
            Stage::AwaitingJob(wait) => Some(&wait.job.call),
            _ => None,
        });
        awaited == Some(call)
    }

    /// How many steps the plan has, with the items of its loops so far.
    pub fn step_count(&self) -> usize {
        self.plan.steps.len()
    }

    /// One step of the plan, with its position.
    pub fn step(&self, id: &str) -> Option<(usize, StepView)> {
        let index = self.plan.index_of(id)?;
        Some((
            index.get(),
            self.known().reports().view(self.plan.get(index)?, self.state.steps.get(index).ok()?, index),
        ))
    }
}

impl Reports<'_> {
    fn view(&self, planned: &PlannedStep, step: &StepRun, index: StepIndex) -> StepView {
        StepView {
            id: planned.id.clone(),
            tool: planned.tool.clone(),
            capability: planned.capability.clone(),
            instruction: planned.instruction.clone(),
            needs: planned.dependencies.clone(),
            item_of: self.known.loop_of(planned),
            session: self.known.session(planned, step.sent()),
            state: match step.stage() {
                Stage::Waiting => StepState::Waiting,
                Stage::Queued => StepState::Queued,
                Stage::Looping => {
                    let items = self.known.steps.items(index);
                    StepState::Looping {
                        items: step.looping.length.unwrap_or_default(),
                        done: items.done,
                        failed: items.failed,
                    }
                }
                Stage::Calling(_) | Stage::Stopping(_) => StepState::Running,
                Stage::BackingOff { until_ms, reason: WaitReason::BreakerOpen, .. } => {
                    StepState::BreakerOpen { until_ms: *until_ms }
                }
                Stage::BackingOff { until_ms, reason: WaitReason::Poll, .. } => {
                    StepState::Polling { polls: step.counts.polls, until_ms: *until_ms }
                }
                Stage::BackingOff { until_ms, reason, .. } => match &step.key_holder {
                    Some(holder) if *reason == WaitReason::KeyHeld => {
                        StepState::KeyHeld { by: holder.run.clone(), until_ms: *until_ms }
                    }
                    _ => StepState::BackingOff { until_ms: *until_ms },
                },
                Stage::Consulting { rung, .. } => StepState::Mending((*rung).into()),
                Stage::Checking { .. } => StepState::Checking,
                Stage::AwaitingJob(wait) => {
                    let job = &wait.job;
                    StepState::AwaitingJob { since_ms: job.since_ms, asked: job.asked, problem: job.problem.clone() }
                }
                Stage::AwaitingApproval { ask, .. } => StepState::AwaitingApproval(Box::new(ask.as_ref().clone())),
                Stage::Verifying(_) => StepState::Verifying,
                Stage::Unconfirmed { reason, .. } => StepState::Unconfirmed { reason: reason.clone() },
                Stage::Done(_) => StepState::Done,
                Stage::Failed { reason, fault } => StepState::Failed {
                    reason: fault.as_ref().map_or_else(|| reason.clone(), |fault| format!("{fault}; {reason}")),
                },
                Stage::Skipped { reason } | Stage::SkippedByCondition { reason } => {
                    StepState::Skipped { reason: reason.clone() }
                }
            },
            replaced: step.replaced,
            mends: step.mends.clone(),
            calls: step.sent(),
            parameters: step.parameters.clone(),
            provenance: step.provenance.clone(),
        }
    }
}
