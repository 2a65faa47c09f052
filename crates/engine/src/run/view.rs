//! A run as a person wants to see it.

use reknit_bind::Provenance;
use reknit_protocol::{AgentName, CapabilityName, Object, StepId};

use super::Run;
use super::state::{Before, Stage};
use super::steps::StepRun;
use crate::effect::AskPerson;
use reknit_mend::{Mend, Rung};
use reknit_plan::Planned;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A model is asked which tools the planner should see.
    Choosing,
    /// A model is asked for a plan, for the how-manieth time.
    Planning {
        /// From 1.
        attempt: u32,
    },
    /// Its steps are done.
    Running,
    /// A model is asked for the answer.
    Answering,
    /// It is over.
    Ended,
}

/// Which tools the planner was shown out of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown<'a> {
    /// As `tool/capability`.
    pub capabilities: &'a [String],
    /// Why they were found by their words and not by a model, if so.
    pub instead: Option<&'a str>,
    /// How many tokens were saved, as far as letters tell.
    pub saved_tokens: u64,
}

/// A step as a person wants to see it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepView {
    /// Which step.
    pub id: StepId,
    /// The tool.
    pub agent: AgentName,
    /// Its capability.
    pub capability: CapabilityName,
    /// What the step is for.
    pub instruction: String,
    /// The steps it needs.
    pub needs: Vec<StepId>,
    /// Where it stands.
    pub state: StepState,
    /// How it was mended so far.
    pub mends: Vec<Mend>,
    /// How often its tool was called.
    pub calls: u32,
    /// What was sent last or is sent next.
    pub parameters: Object,
    /// Where each parameter comes from.
    pub provenance: Vec<(String, Provenance)>,
}

/// Where a step stands.
#[derive(Debug, Clone, PartialEq)]
pub enum StepState {
    /// For other steps.
    Waiting,
    /// For a free place.
    Queued,
    /// Its tool is being called.
    Running,
    /// Until the same call is sent again.
    Resting {
        /// Milliseconds since 1970.
        until_ms: i64,
    },
    /// Its service is resting, or at its limit, for all who call it.
    TurnedAway {
        /// Milliseconds since 1970.
        until_ms: i64,
    },
    /// A model is asked.
    Mending(Rung),
    /// A person is asked.
    Asking(Box<AskPerson>),
    /// It did what it should.
    Done,
    /// It did not.
    Failed {
        /// Why.
        reason: String,
    },
    /// It never began.
    Skipped {
        /// Why.
        reason: String,
    },
}

pub(super) fn steps(run: &Run) -> Vec<StepView> {
    run.plan.steps.iter().zip(run.state.steps.iter()).map(|(planned, step)| view(planned, step)).collect()
}

fn view(planned: &Planned, step: &StepRun) -> StepView {
    StepView {
        id: planned.id.clone(),
        agent: planned.agent.clone(),
        capability: planned.capability.clone(),
        instruction: planned.instruction.clone(),
        needs: planned.needs.clone(),
        state: match step.stage() {
            Stage::Waiting => StepState::Waiting,
            Stage::Queued => StepState::Queued,
            Stage::Calling(_) | Stage::Stopping(_) => StepState::Running,
            Stage::Resting { until_ms, before: Before::SendingAgain, .. } => StepState::Resting { until_ms: *until_ms },
            Stage::Resting { until_ms, before: Before::GateOpens, .. } => StepState::TurnedAway { until_ms: *until_ms },
            Stage::Advising { rung, .. } => StepState::Mending(*rung),
            Stage::Deciding { ask, .. } => StepState::Asking(ask.clone()),
            Stage::Done(_) => StepState::Done,
            Stage::Failed { reason, fault } => StepState::Failed {
                reason: fault.as_ref().map_or_else(|| reason.clone(), |fault| format!("{fault}; {reason}")),
            },
            Stage::Skipped { reason } => StepState::Skipped { reason: reason.clone() },
        },
        mends: step.mends.clone(),
        calls: step.sent(),
        parameters: step.parameters.clone(),
        provenance: step.provenance.clone(),
    }
}
