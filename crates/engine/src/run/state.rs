//! What a run is, between two events. All of it can be written down and read back.

use std::collections::BTreeMap;

use reknit_dialogue::TargetName;
use reknit_protocol::{EffectKind, EffectOwner};
use reknit_protocol::{Plan, Value, exact};
use serde::{Deserialize, Serialize};

use super::steps::Steps;
use crate::answer::{Answer, Status};
use crate::budget::{Exhausted, Spent};
use crate::consult::Consultation;
use crate::effect::{AskPerson, Effect};
use crate::session::Doubtful;
use reknit_mend::Fault;
use reknit_mend::Rung;
use reknit_plan::Choice;
use reknit_protocol::{CallTool, EffectId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(super) events: u64,
    pub(super) now_ms: i64,
    pub(super) phase: Phase,
    /// Which tools the planner sees, if not all.
    pub(super) choice: Option<Choice>,
    #[serde(with = "exact::option")]
    pub(super) plan: Option<Plan>,
    /// How the model's words had to be repaired to become the plan.
    pub(super) plan_repairs: Vec<String>,
    pub(super) steps: Steps,
    pub(super) spent: Spent,
    /// Why nothing new starts.
    pub(super) stop: Option<Stop>,
    pub(super) clock: ActiveClock,
    pub(super) late: u32,
    /// Calls that must not be made: they may have happened before the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) avoided: Vec<Doubtful>,
    /// The models that refused their key or their account. They are not asked again.
    pub(super) refused: Vec<TargetName>,
    /// How many steps failed at which tool and how, although models were asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) fruitless: BTreeMap<String, u32>,
    /// The tries at a plan that could not be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) refused_plans: Vec<RefusedPlan>,
    /// What another process paid for when it took the run over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resumed: Option<PaidAgain>,
    /// When everything was told to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped_ms: Option<i64>,
}

/// What was paid for again when a run was taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PaidAgain {
    /// The number of the event that said so.
    pub(super) event: u64,
    pub(super) at_ms: i64,
    pub(super) tool_calls: u32,
}

/// A model's words that are no plan that can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedPlan {
    /// What it said, cut.
    pub words: String,
    /// What is wrong with it, each in a line.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// Which tools the planner is to see.
    Choosing {
        consultation: Box<Consultation>,
    },
    Planning {
        attempt: u32,
        consultation: Box<Consultation>,
    },
    Running,
    Answering {
        consultation: Box<Consultation>,
    },
    Ended(Box<Answer>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stop {
    Cancelled,
    Exhausted(Exhausted),
}

impl Stop {
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Cancelled => Status::Cancelled,
            Self::Exhausted(_) => Status::BudgetExhausted,
        }
    }

    /// Whether everything is to end now. Otherwise only what costs what ran out does not begin any more.
    pub(super) fn is_immediate(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Exhausted(Exhausted::Time(_)))
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Self::Cancelled => "the run was cancelled".to_owned(),
            Self::Exhausted(what) => what.to_string(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// For the steps it needs.
    #[default]
    Waiting,
    /// For a free place and for the budget.
    Queued,
    Calling(Box<CallTool>),
    /// Being called while the run is to end.
    Stopping(Box<CallTool>),
    Resting {
        id: EffectId,
        until_ms: i64,
        before: Before,
    },
    /// A model is asked about the failure.
    Advising {
        rung: Rung,
        fault: Box<Fault>,
        consultation: Box<Consultation>,
    },
    /// A person is asked.
    Deciding {
        ask: Box<AskPerson>,
        fault: Box<Fault>,
    },
    Done(#[serde(with = "exact")] Value),
    Failed {
        reason: String,
        fault: Option<Box<Fault>>,
    },
    Skipped {
        reason: String,
    },
}

/// What a step rests before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Before {
    /// The same call is sent again.
    SendingAgain,
    /// The service takes calls again.
    GateOpens,
}

/// Counts the time in which a run is not waiting for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ActiveClock {
    /// Up to the last time it stopped.
    past_ms: u64,
    since_ms: Option<i64>,
    /// How often it was set going: a new deadline each time.
    ordinal: u32,
}

impl ActiveClock {
    /// Not going yet.
    pub(crate) fn new() -> Self {
        Self { past_ms: 0, since_ms: None, ordinal: 0 }
    }

    pub(crate) fn active_ms(&self, now_ms: i64) -> u64 {
        let running = self.since_ms.map_or(0, |since| now_ms.saturating_sub(since));
        self.past_ms.saturating_add(u64::try_from(running).unwrap_or(0))
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

    /// Another process goes on: the time since the last event does not count.
    pub(crate) fn resume(&mut self, last_ms: i64, now_ms: i64) {
        if self.since_ms.is_some() {
            self.past_ms = self.active_ms(last_ms);
            self.since_ms = Some(now_ms);
            self.ordinal += 1;
        }
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
        Self {
            events: 1,
            now_ms,
            phase: Phase::Running,
            choice: None,
            plan: None,
            plan_repairs: Vec::new(),
            steps: Steps::default(),
            spent: Spent::default(),
            stop: None,
            clock: ActiveClock::new(),
            late: 0,
            avoided: Vec::new(),
            refused: Vec::new(),
            fruitless: BTreeMap::new(),
            refused_plans: Vec::new(),
            resumed: None,
            stopped_ms: None,
        }
    }
}
