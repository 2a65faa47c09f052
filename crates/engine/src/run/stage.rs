//! The stages of a step, each with the data that only it needs.

use std::sync::Arc;

use reknit_mend::{CallFault, ModelRung};
use reknit_protocol::EffectId;
use serde::{Deserialize, Serialize};

use crate::admitted_call::AdmittedCall;
use crate::consult::Consultation;
use crate::effect::{AskPerson, Effect};
use crate::record::WaitReason;
use crate::result_handle::ResultHandle;
use crate::times::ms_between;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    #[default]
    Waiting,
    /// Waiting for a free slot and for budget.
    Queued,
    Calling(AdmittedCall),
    /// The call is in progress while the run stops.
    Stopping(AdmittedCall),
    Looping,
    /// Waiting before the call is made, or made again.
    BackingOff {
        id: EffectId,
        until_ms: i64,
        reason: WaitReason,
    },
    /// A model is asked how to repair the call.
    Consulting {
        rung: ModelRung,
        fault: Arc<CallFault>,
        consultation: Box<Consultation>,
    },
    /// A read capability is called, which tells whether the step's call took effect.
    Checking {
        call: AdmittedCall,
        fault: Arc<CallFault>,
        /// Why the step fails if the check does not tell; a person is asked if there is no reason.
        give_up: Option<String>,
    },
    /// The tool works on a job that the call started.
    AwaitingJob(Arc<JobWait>),
    AwaitingApproval {
        ask: Arc<AskPerson>,
        /// Why the call before it failed, if there was one.
        fault: Option<Arc<CallFault>>,
    },
    /// A read call tells whether the call had the wished effect.
    Verifying(Arc<Verification>),
    Done(ResultHandle),
    /// The call was made, but its result or its effect is not as the plan expects.
    Unconfirmed {
        result: ResultHandle,
        reason: String,
    },
    Failed {
        reason: String,
        fault: Option<Arc<CallFault>>,
    },
    Skipped {
        reason: String,
    },
    /// Its condition is false, or it needs a step whose condition is false.
    SkippedByCondition {
        reason: String,
    },
}

/// The first wait before the state of a job is asked for, if the tool names none. It doubles with every question.
const FIRST_WAIT_MS: u64 = 1_000;
/// The longest of these waits.
const LONGEST_WAIT_MS: u64 = 60_000;
/// A tool may ask for shorter waits, but not than this, nor than this part of the time that its job has taken so far.
const SHORTEST_WAIT_MS: u64 = 100;
const SHORTEST_PART: u64 = 60;

/// A step that waits for a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JobWait {
    pub(super) job: Job,
    pub(super) activity: JobActivity,
}

/// The job that a step waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Job {
    /// The call that started the job.
    pub(super) call: EffectId,
    /// What the tool needs to be asked about the job; `None` if it calls back.
    pub(super) handle: Option<String>,
    pub(super) since_ms: i64,
    pub(super) expires_ms: i64,
    pub(super) asked: u32,
    /// Why the last question was not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobActivity {
    /// Waiting before the tool is asked.
    Waiting {
        id: EffectId,
        until_ms: i64,
    },
    Asking(AdmittedCall),
    /// The run stops: the tool is told to cancel the job.
    Cancelling {
        call: AdmittedCall,
        reason: String,
    },
}

impl JobWait {
    pub(super) fn effect(&self) -> Effect {
        match &self.activity {
            JobActivity::Waiting { id, until_ms } => Effect::Sleep { id: id.clone(), until_ms: *until_ms },
            JobActivity::Asking(call) | JobActivity::Cancelling { call, .. } => call.effect(),
        }
    }
}

impl Job {
    /// How long to wait before the tool is asked. It may ask for another wait, but not for one so short that a long job
    /// becomes thousands of questions.
    pub(super) fn wait_ms(&self, retry_after_ms: Option<u64>, now_ms: i64) -> u64 {
        let grown = FIRST_WAIT_MS.saturating_mul(1u64.checked_shl(self.asked).unwrap_or(u64::MAX)).min(LONGEST_WAIT_MS);
        let shortest = (ms_between(self.since_ms, now_ms) / SHORTEST_PART).clamp(SHORTEST_WAIT_MS, LONGEST_WAIT_MS);
        retry_after_ms.unwrap_or(grown).max(shortest)
    }
}

/// A step whose effect is being verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Verification {
    pub(super) result: ResultHandle,
    pub(super) activity: VerifyActivity,
    /// How many replies did not confirm the effect.
    pub(super) unmet: u32,
    /// How many read calls failed temporarily.
    pub(super) failures: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum VerifyActivity {
    Calling(AdmittedCall),
    Waiting {
        id: EffectId,
        until_ms: i64,
    },
    /// The next read call waits for a free slot.
    Queued,
}

impl Verification {
    pub(super) fn new(result: ResultHandle) -> Self {
        Self { result, activity: VerifyActivity::Queued, unmet: 0, failures: 0 }
    }

    pub(super) fn effect(&self) -> Option<Effect> {
        match &self.activity {
            VerifyActivity::Calling(call) => Some(call.effect()),
            VerifyActivity::Waiting { id, until_ms } => Some(Effect::Sleep { id: id.clone(), until_ms: *until_ms }),
            VerifyActivity::Queued => None,
        }
    }

    /// Whether its next read call waits for a free slot.
    pub(super) fn is_queued(&self) -> bool {
        self.activity == VerifyActivity::Queued
    }

    /// Whether it waits before the next read call. Such time is not active.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.activity, VerifyActivity::Waiting { .. })
    }
}
