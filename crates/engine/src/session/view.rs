//! A view of a session for people and programs.

use reknit_model_api::{Message, TargetName};

use super::Session;
use super::state::Phase;
use crate::budget::Spent;
use crate::record::ModelWaitReason;
use crate::report::{FinalTurnReason, MendedCall, Report};
use crate::run::StepView;
use crate::session_start::SessionStarted;

/// The progress of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// The turn, from 1.
    pub turn: u32,
    /// The number of the last possible turn.
    pub max_turns: u32,
    pub forced_final_reason: Option<FinalTurnReason>,
    pub doing: SessionActivity,
}

/// The current activity of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionActivity {
    Asking {
        /// The attempt in its turn, from 1.
        attempt: u32,
        target: Option<TargetName>,
    },
    /// The driver counts the tokens of the question.
    Counting,
    /// The session waits before the next attempt.
    Waiting {
        /// Until when, in milliseconds since 1970.
        until_ms: i64,
        reason: ModelWaitReason,
    },
    Calling {
        steps: Vec<StepView>,
        /// The plans and agents that were called.
        children: Vec<ChildView>,
    },
    Ended,
}

/// A plan or an agent that was called, and its progress.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildView {
    /// The id of the call: `call-2`.
    pub call: String,
    pub name: String,
    pub doing: ChildActivity,
}

/// The progress of a plan or an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildActivity {
    Plan(Vec<StepView>),
    Agent(Box<SessionView>),
}

impl Session {
    /// The first event.
    pub fn started(&self) -> &SessionStarted {
        &self.started
    }

    /// The number of events applied, the first included.
    pub fn event_count(&self) -> u64 {
        self.state.events
    }

    /// The number of outcomes that arrived too late to matter.
    pub fn late(&self) -> u32 {
        self.state.late_outcomes
    }

    /// The time of the last event, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.state.now_ms
    }

    /// The report, once the session has ended.
    pub fn report(&self) -> Option<&Report> {
        match &self.state.phase {
            Phase::Ended(report) => Some(report),
            _ => None,
        }
    }

    /// The conversation so far, without failed attempts.
    pub fn history(&self) -> &[Message] {
        &self.state.history
    }

    /// The calls that were changed or sent again so far.
    pub fn mended(&self) -> &[MendedCall] {
        &self.state.mended
    }

    /// What the session has spent so far.
    pub fn spent(&self) -> Spent {
        let mut spent = self.spent_with_children();
        spent.active_ms = self.state.clock.active_ms(self.state.now_ms);
        spent.add(&self.state.spent_before);
        spent
    }

    /// Whether the session can only go on after a person's decision.
    pub fn is_waiting_for_person(&self) -> bool {
        let calls = self.call_run.iter().filter(|run| run.answer().is_none()).map(|run| run.is_waiting_for_person());
        let children = self.children.iter().map(|child| child.machine.is_waiting_for_person());
        calls.chain(children).reduce(|one, other| one && other).unwrap_or(false)
    }

    /// Whether the session can only go on after a person's decision or the end of a job. Such time is not active.
    pub fn is_idle(&self) -> bool {
        let calls = self.call_run.iter().filter(|run| run.answer().is_none()).map(|run| run.is_idle());
        let children = self.children.iter().map(|child| child.machine.is_idle());
        calls.chain(children).reduce(|one, other| one && other).unwrap_or(false)
    }

    /// The progress.
    pub fn view(&self) -> SessionView {
        let doing = match &self.state.phase {
            Phase::Asking { attempt, .. } => {
                SessionActivity::Asking { attempt: *attempt, target: self.state.rotation.target().cloned() }
            }
            Phase::Waiting { until_ms, reason, .. } => {
                SessionActivity::Waiting { until_ms: *until_ms, reason: *reason }
            }
            Phase::Counting { .. } => SessionActivity::Counting,
            Phase::Calling(_) => SessionActivity::Calling {
                steps: self.call_run.as_ref().map(|run| run.steps()).unwrap_or_default(),
                children: self.child_views(),
            },
            Phase::Ended(_) => SessionActivity::Ended,
        };
        SessionView {
            turn: self.state.turn,
            max_turns: self.state.max_turns,
            forced_final_reason: self.state.final_turn_reason,
            doing,
        }
    }
}
