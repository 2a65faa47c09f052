//! The state of a run between two events. All of it is part of a snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_model_api::TargetName;
use reknit_plan::ToolSelection;
use reknit_protocol::{EffectId, EffectKind, EffectOwner, Object, Plan, StepId, exact};
use serde::{Deserialize, Serialize};

use super::replaced_call::ReplacedCall;
use super::steps::Steps;
use crate::answer::{Answer, Replanning, StepReport};
use crate::budget::{Exhausted, Spent};
use crate::business_key::{Avoided, UncertainCall};
use crate::consult::Consultation;
use crate::effect::{AskPerson, Effect};
use crate::guard::Earlier;
use crate::stored::is_default;
use crate::times::ms_between;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(super) events: u64,
    pub(super) now_ms: i64,
    pub(super) phase: Phase,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) planning: Planning,
    pub(super) steps: Steps,
    pub(super) account: Account,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) ruled_out: RuledOut,
    pub(super) clock: ActiveClock,
    pub(super) late: u32,
    /// How often the run was retried after it had ended.
    pub(super) retries: u32,
    /// How often models were asked before the run ended: the ordinals of the last questions.
    pub(super) asked: AskedQuestions,
}

/// The plan of a run, and how it came to be.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Planning {
    /// The tools that the planner is shown, if not all.
    pub(super) choice: Option<ToolSelection>,
    #[serde(with = "exact::option")]
    pub(super) plan: Option<Plan>,
    /// The repairs that turned a model's text into the plan.
    pub(super) repairs: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) approval: PlanApproval,
    /// The steps of the plan that were left out because they could not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<StepReport>,
    /// The tool that the plan names, for each step that goes to another one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) rerouted: BTreeMap<StepId, String>,
    /// What was corrected in the values of a step before the plan was accepted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) corrected_values: BTreeMap<StepId, String>,
    /// The parameters that were left out of the plan because the tool does not have them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) lost_parameters: BTreeMap<StepId, LostParameters>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rejected: Vec<RejectedPlan>,
    /// The calls of plans that were rejected, until there is a plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rejected_calls: Vec<ReplacedCall>,
    /// The times that the planner was asked for a plan of what is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) replannings: Vec<Replanning>,
    /// What was read before the run started.
    #[serde(skip_serializing_if = "Earlier::is_empty")]
    pub(super) earlier: Earlier,
}

/// What a run has spent, and why it starts no new work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Account {
    pub(super) spent: Spent,
    /// How many tool calls the items of loops add to the limit.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) added_tool_calls: u32,
    /// Why no new work starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<Stop>,
    /// When the run was told to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped_ms: Option<i64>,
    /// What was paid for again when a process resumed the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resumed: Option<PaidAgain>,
    /// What was spent before the run was retried. Its limits count anew.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) spent_before: Spent,
    /// What the sessions of agents have spent, but for their cost, which is part of what the run spent.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) sessions: Spent,
}

impl Account {
    /// Refuses new work that the exhausted budget would have to pay for.
    pub(super) fn stop_for(&mut self, exhausted: Exhausted) {
        self.stop.get_or_insert(Stop::Exhausted(exhausted));
    }

    /// Why everything ends now, if it does.
    pub(super) fn immediate_stop(&self) -> Option<String> {
        self.stop.as_ref().filter(|stop| stop.is_immediate()).map(ToString::to_string)
    }
}

/// What must not be done, or is known not to help.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RuledOut {
    /// Calls that must not be made: they may have happened before the run started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) avoided: Vec<UncertainCall>,
    /// The calls that a person denied earlier in the session. Nobody is asked about them again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) denied: Vec<UncertainCall>,
    /// The calls that a person denied in this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) newly_denied: Vec<UncertainCall>,
    /// The models that refused their key or account. They are not asked again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) models: Vec<TargetName>,
    /// How many steps failed in the same way although models were asked, by tool and error.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) failures: BTreeMap<String, u32>,
    /// The learned rules whose change a tool rejected, each with the error.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) rules: BTreeMap<String, String>,
}

/// Parameters that a plan has and that are not sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct LostParameters(#[serde(with = "exact")] pub(super) Object);

/// The ordinals of the last questions that are not about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct AskedQuestions {
    pub(super) selection: u32,
    pub(super) plan: u32,
    pub(super) answer: u32,
}

/// Calls that were paid for again when a run was resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PaidAgain {
    /// The number of the event that resumed the run.
    pub(super) event: u64,
    pub(super) at_ms: i64,
    pub(super) tool_calls: u32,
}

/// A model's answer that was rejected as a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedPlan {
    /// The beginning of the answer.
    pub words: String,
    /// The problems, one per line.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// A model selects the tools that the planner is shown.
    Selecting {
        consultation: Box<Consultation>,
    },
    Planning {
        attempt: u32,
        consultation: Box<Consultation>,
    },
    #[default]
    Running,
    Answering {
        consultation: Box<Consultation>,
    },
    Ended(Box<Answer>),
}

/// Whether a person has approved the whole plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlanApproval {
    #[default]
    NotAsked,
    Asking(Arc<AskPerson>),
    Approved,
}

impl PlanApproval {
    /// The effects of an open question.
    pub(super) fn effects(&self) -> Option<[Effect; 2]> {
        let Self::Asking(ask) = self else { return None };
        let expiry = Effect::Sleep { id: ask.id.with_kind(EffectKind::PlanApprovalExpiry), until_ms: ask.expires_ms };
        Some([Effect::AskPerson(Arc::clone(ask)), expiry])
    }
}

/// Why no new work starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stop {
    #[error("the run was cancelled")]
    Cancelled,
    #[error(transparent)]
    Exhausted(Exhausted),
    /// A step failed, after which the plan starts no other one.
    #[error("step `{0}` failed, and the plan says to stop then")]
    StepFailed(StepId),
}

impl Stop {
    /// Whether everything ends now. Otherwise only new work of the kind that the budget no longer covers is refused.
    pub(super) fn is_immediate(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Exhausted(Exhausted::Time(_)))
    }
}

/// Measures the time in which a run does not only wait for people and jobs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ActiveClock {
    /// The time measured before the clock last started.
    past_ms: u64,
    since_ms: Option<i64>,
    /// How often the clock was started: each start has a deadline of its own.
    ordinal: u32,
}

impl ActiveClock {
    pub(crate) fn active_ms(&self, now_ms: i64) -> u64 {
        self.past_ms.saturating_add(self.since_ms.map_or(0, |since| ms_between(since, now_ms)))
    }

    pub(crate) fn set_active(&mut self, active: bool, now_ms: i64) {
        match (active, self.since_ms) {
            (true, None) => {
                self.since_ms = Some(now_ms);
                self.ordinal += 1;
            }
            (false, Some(_)) => {
                self.past_ms = self.active_ms(now_ms);
                self.since_ms = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// A process resumed the run: the time since the last event does not count.
    pub(crate) fn resume(&mut self, last_ms: i64, now_ms: i64) {
        if self.since_ms.is_some() {
            self.past_ms = self.active_ms(last_ms);
            self.since_ms = Some(now_ms);
            self.ordinal += 1;
        }
    }

    /// Measures from 0 again. The deadlines keep their ordinals.
    pub(crate) fn restart(&mut self) {
        (self.past_ms, self.since_ms) = (0, None);
    }

    /// Replaces the deadline by another one.
    pub(crate) fn next_deadline(&mut self) {
        self.ordinal += 1;
    }

    pub(crate) fn deadline_id(&self) -> EffectId {
        EffectId::new(EffectOwner::Run, EffectKind::Deadline, self.ordinal)
    }

    pub(crate) fn effect(&self, limit_ms: u64) -> Option<Effect> {
        let since = self.since_ms?;
        let left = limit_ms.saturating_sub(self.past_ms);
        Some(Effect::Sleep { id: self.deadline_id(), until_ms: since.saturating_add_unsigned(left) })
    }
}

impl State {
    pub(super) fn new(now_ms: i64) -> Self {
        Self { events: 1, now_ms, ..Self::default() }
    }

    /// The state of a run that must not do what is known to be wrong.
    pub(super) fn without(mut self, avoided: &Avoided) -> Self {
        self.ruled_out.avoided.clone_from(&avoided.calls);
        self.ruled_out.denied.clone_from(&avoided.denied);
        self.ruled_out.rules.clone_from(&avoided.rules);
        self.planning.earlier.clone_from(&avoided.earlier);
        self
    }

    /// Notes what was read before the run started, unless the machine that runs it has said so.
    pub(super) fn begin_after(&mut self, earlier: &Earlier) {
        if self.planning.earlier.is_empty() {
            self.planning.earlier.clone_from(earlier);
        }
    }
}
