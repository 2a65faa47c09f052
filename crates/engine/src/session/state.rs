//! The state of a session between two events, and its view for people and programs. All of the state is part of a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use reknit_model_api::{Message, ModelWaitReason, Rotation, TargetName, ToolCall};
use serde::{Deserialize, Serialize};

use super::call::{Call, ChildState, CompletedCall};
use super::call_facts::CallFacts;
use super::report_draft::{FallbackReport, ReportDraft};
use super::stored_results::StoredResults;
use super::token_counts::TokenCounts;
use super::{Machine, Session};
use crate::budget::{Quote, Spent};
use crate::business_key::UncertainCall;
use crate::guard::{Earlier, Mandate};
use crate::notice::Notice;
use crate::report::{ChildReport, FinalTurnReason, MendedCall, RepeatedCall, Report, Totals};
use crate::run::state::ActiveClock;
use crate::run::{Run, StepView};
use crate::session_start::SessionStarted;
use crate::stored::is_default;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) events: u64,
    pub(super) now_ms: i64,
    pub(super) clock: ActiveClock,
    pub(super) account: Account,
    /// The messages of the user after the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) follow_ups: Vec<String>,
    pub(super) late_outcomes: u32,
    /// The conversation. A failed attempt leaves it unchanged.
    pub(super) history: Vec<Message>,
    pub(super) current: Turn,
    pub(super) max_turns: u32,
    pub(super) rotation: Rotation,
    pub(super) phase: Phase,
    /// What the next attempts are told, each text once.
    pub(super) notices: Vec<Notice>,
    pub(super) ending: Ending,
    pub(super) turns_completed: u32,
    pub(super) totals: Totals,
    pub(super) models: ModelFacts,
    pub(super) calls: CallLog,
    /// Results that are too long for the conversation.
    pub(super) stored_results: StoredResults,
    /// The plans and agents that were called and have ended.
    pub(super) children: Vec<ChildReport>,
}

/// What a session has spent, and what it has reserved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Account {
    pub(super) spent: Spent,
    /// What was spent before the last message of the user. The limits count anew for each message.
    pub(super) spent_before: Spent,
    /// The reservation for the question in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question_quote: Option<Quote>,
    /// The reservation for the question that asks for the report.
    pub(super) report_reserve: Quote,
}

/// The current turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Turn {
    /// From 1.
    pub(super) number: u32,
    pub(super) started_ms: i64,
    /// The ordinals of its last question and its last token count, for effect ids.
    pub(super) question_ordinal: u32,
    pub(super) count_ordinal: u32,
    /// The limit for one answer, in tokens: larger after a truncated one.
    pub(super) max_output_tokens: u32,
    /// Whether the model is asked first for what the agent may change.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) asks_for_mandate: bool,
}

/// How the session comes to its end, and what is reported if no report is accepted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Ending {
    /// Why the current turn is the final one.
    pub(super) final_turn_reason: Option<FinalTurnReason>,
    /// The last turn that reduced `max_turns`.
    pub(super) collapsed_in_turn: Option<u32>,
    pub(super) fallback_report: Option<FallbackReport>,
    /// Why no model could be asked any more, although the report is one that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) no_model: Option<String>,
    pub(super) final_report_attempts: u32,
    /// Why the session ends without a final turn.
    pub(super) abort_reason: Option<AbortReason>,
    pub(super) last_stop_reason: Option<String>,
    pub(super) last_error: Option<String>,
    /// The last text of the model that was not accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_text: Option<String>,
}

/// What the session has found out about its models.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ModelFacts {
    /// The output limits that providers stated when they refused a larger one.
    pub(super) output_limits: BTreeMap<TargetName, u32>,
    /// The models that have made a native call. A call in a text of theirs is not made.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) native_callers: BTreeSet<TargetName>,
    /// The last exact token count per target.
    pub(super) token_counts: TokenCounts,
    pub(super) uncountable: BTreeSet<TargetName>,
    /// Upper bounds for the windows of targets that rejected a question as too long.
    pub(super) learned_windows: BTreeMap<TargetName, u64>,
}

/// What became of the calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CallLog {
    /// Calls that failed but may have taken effect.
    pub(super) uncertain: Vec<UncertainCall>,
    /// Calls that a person denied. Nobody is asked about the same call again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) denied: Vec<UncertainCall>,
    /// The learned rules whose change a tool rejected, each with the error.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) rejected_rules: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) completed: Vec<CompletedCall>,
    /// The calls that repeat one that succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) repeated: Vec<RepeatedCall>,
    /// The calls that failed and may have taken effect, one sentence for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) in_doubt: Vec<String>,
    /// The calls that were changed or sent again, and succeeded.
    pub(super) mended: Vec<MendedCall>,
    /// Those that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tried: Vec<MendedCall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) approved: Vec<String>,
    pub(super) successful: u32,
    #[serde(skip_serializing_if = "CallFacts::is_empty")]
    pub(super) facts: CallFacts,
    /// What the agent was told that called this one, and that had read data.
    #[serde(skip_serializing_if = "Earlier::is_empty")]
    pub(super) earlier: Earlier,
    /// With the guard on: what a model said that the messages of the user need to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mandate: Option<Mandate>,
    /// For how many messages it was asked for.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) mandates_asked: usize,
    /// With the guard on: how many calls of each capability changed something, or may have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) changes_made: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Asking {
        attempt: u32,
        since_ms: i64,
    },
    /// The driver counts the tokens of the question.
    Counting {
        attempt: u32,
    },
    /// A pause before the next attempt.
    Waiting {
        attempt: u32,
        since_ms: i64,
        until_ms: i64,
        reason: ModelWaitReason,
    },
    /// The calls of an answer are made.
    Calling(Box<Calling>),
    Ended(Box<Report>),
}

impl Default for Phase {
    fn default() -> Self {
        Self::Asking { attempt: 0, since_ms: 0 }
    }
}

/// An answer whose calls are in progress. It becomes part of the history when they are over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Calling {
    pub(super) answer: Message,
    pub(super) calls: Vec<Call>,
    /// The state of each call that is not a step of the run for the calls.
    pub(super) child_states: Vec<ChildState>,
    /// A report in the same answer: it is committed if every call succeeds.
    pub(super) report: Option<(ToolCall, ReportDraft)>,
    /// The number of attempts in the turn.
    pub(super) attempts: u32,
}

/// Why a session ends without a final turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AbortReason {
    Cancelled,
    TimeLimit,
}

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

    /// The calls that were changed or sent again so far, and succeeded.
    pub fn mended(&self) -> &[MendedCall] {
        &self.state.calls.mended
    }

    /// The calls that were changed or sent again so far, and failed.
    pub fn tried(&self) -> &[MendedCall] {
        &self.state.calls.tried
    }

    pub fn spent(&self) -> Spent {
        let mut spent = self.spent_with_children();
        spent.active_ms = self.state.clock.active_ms(self.state.now_ms);
        spent.add(&self.state.account.spent_before);
        spent
    }

    /// Whether the session can only go on after a person's decision.
    pub fn is_waiting_for_person(&self) -> bool {
        self.all_wait(Run::is_waiting_for_person, Machine::is_waiting_for_person)
    }

    /// Whether the session can only go on after a person's decision or the end of a job. Such time is not active.
    pub fn is_idle(&self) -> bool {
        self.all_wait(Run::is_idle, Machine::is_idle)
    }

    fn all_wait(&self, run_waits: fn(&Run) -> bool, machine_waits: fn(&Machine) -> bool) -> bool {
        let calls = self.call_run.iter().filter(|run| run.answer().is_none()).map(|run| run_waits(run));
        let children = self.children.iter().map(|child| machine_waits(&child.machine));
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
            turn: self.state.current.number,
            max_turns: self.state.max_turns,
            forced_final_reason: self.state.ending.final_turn_reason,
            doing,
        }
    }
}
