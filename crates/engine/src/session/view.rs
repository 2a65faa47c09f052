//! A session as people and programs want to see it.

use reknit_dialogue::{Message, TargetName};

use super::Session;
use super::record::{ForcedReason, Record};
use super::report::Report;
use super::started::SessionStarted;
use super::state::Phase;
use crate::budget::Spent;
use crate::machine::Machine;
use crate::run::{Run, StepView};

/// How far a session is.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// The turn, from 1.
    pub turn: u32,
    /// The last turn there can be.
    pub max_turns: u32,
    /// Why the turn is the last one, if it is.
    pub forced_final_reason: Option<ForcedReason>,
    /// What is being done.
    pub doing: Doing,
}

/// What a session is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Doing {
    /// A model is asked.
    Asking {
        /// The attempt in its turn, from 1.
        attempt: u32,
        /// Who is asked.
        target: Option<TargetName>,
    },
    /// Somebody counts how long the question is.
    Counting,
    /// Everybody is at a limit.
    Waiting {
        /// Milliseconds since 1970.
        until_ms: i64,
    },
    /// Tools are called.
    Calling {
        /// The calls of tools.
        steps: Vec<StepView>,
        /// The plans and agents that were called.
        children: Vec<ChildView>,
    },
    /// It is over.
    Ended,
}

/// A plan or an agent that was called, and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildView {
    /// The call: `call-2`.
    pub call: String,
    /// What was called.
    pub name: String,
    /// How far it is.
    pub doing: ChildDoing,
}

/// How far a plan or an agent is.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildDoing {
    /// The steps of a plan.
    Plan(Vec<StepView>),
    /// The turns of an agent.
    Agent(Box<SessionView>),
}

impl Session {
    /// How it began.
    pub fn started(&self) -> &SessionStarted {
        &self.started
    }

    /// How many events were taken in, the first included.
    pub fn event_count(&self) -> u64 {
        self.state.events
    }

    /// How many answers came that nobody waited for.
    pub fn late(&self) -> u32 {
        self.state.late
    }

    /// When the last event happened, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.state.now_ms
    }

    /// The run of the calls of the turn, also if it ended with the last event.
    pub(crate) fn told_run(&self) -> Option<&Run> {
        self.calls.as_deref().or(self.ended_calls.as_deref())
    }

    /// The plans and agents that are under way or ended with the last event, by what the names of their effects begin with.
    pub(crate) fn told_children(&self) -> impl Iterator<Item = (&str, &Machine)> {
        self.ended_children.iter().chain(&self.children).filter_map(|child| {
            let name = child.machine.id().as_str().strip_prefix(self.started.run.as_str())?;
            Some((name.strip_prefix('/')?, &child.machine))
        })
    }

    /// The report, once the session has ended.
    pub fn report(&self) -> Option<&Report> {
        match &self.state.phase {
            Phase::Ended(report) => Some(report),
            _ => None,
        }
    }

    /// What was said and done in turns that counted.
    pub fn history(&self) -> &[Message] {
        &self.state.history
    }

    /// Everything it has to tell, in order.
    pub fn records(&self) -> &[Record] {
        &self.state.records
    }

    /// What it has spent so far.
    pub fn spent(&self) -> Spent {
        let mut spent = self.without_shares();
        spent.active_ms = self.state.clock.active_ms(self.state.now_ms);
        spent
    }

    /// Whether nothing but a person's decision can take it on.
    pub fn is_waiting_for_person(&self) -> bool {
        let calls = self.calls.iter().filter(|run| run.answer().is_none()).map(|run| run.is_waiting_for_person());
        let children = self.children.iter().map(|child| child.machine.is_waiting_for_person());
        calls.chain(children).reduce(|one, other| one && other).unwrap_or(false)
    }

    /// The turns in which tools were called.
    pub(super) fn turns_completed(&self) -> u32 {
        let counted = |record: &&Record| {
            matches!(record, Record::TurnEnded { outcome: super::record::TurnOutcome::ToolCalls, .. })
        };
        u32::try_from(self.state.records.iter().filter(counted).count()).unwrap_or(u32::MAX)
    }

    /// How far it is.
    pub fn view(&self) -> SessionView {
        let doing = match &self.state.phase {
            Phase::Asking { attempt, .. } => {
                Doing::Asking { attempt: *attempt, target: self.state.rotation.target().cloned() }
            }
            Phase::Waiting { until_ms, .. } => Doing::Waiting { until_ms: *until_ms },
            Phase::Counting { .. } => Doing::Counting,
            Phase::Calling(_) => Doing::Calling {
                steps: self.calls.as_ref().map(|run| run.steps()).unwrap_or_default(),
                children: self.children_view(),
            },
            Phase::Ended(_) => Doing::Ended,
        };
        SessionView {
            turn: self.state.turn,
            max_turns: self.state.max_turns,
            forced_final_reason: self.state.forced,
            doing,
        }
    }
}
