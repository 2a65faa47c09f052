//! What a session is, between two events. All of it can be written down and read back.

use std::collections::{BTreeMap, BTreeSet};

use reknit_dialogue::{Message, Rotation, TargetName, ToolCall};
use serde::{Deserialize, Serialize};

use super::children::{ChildReport, Made};
use super::draft::Draft;
use super::estimate::Meters;
use super::notice::Notices;
use super::record::{ForcedReason, Record, Totals};
use super::report::{Report, ReportSource};
use super::sorting::{Call, Doubtful};
use super::stored::Stored;
use crate::budget::{Quote, Spent};
use crate::run::state::ActiveClock;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) events: u64,
    pub(super) now_ms: i64,
    pub(super) clock: ActiveClock,
    pub(super) spent: Spent,
    /// What is set aside for the question that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) quote: Option<Quote>,
    /// What is set aside for the report.
    #[serde(default)]
    pub(super) kept: Quote,
    pub(super) late: u32,
    /// What was said and done in turns that counted. A failed attempt leaves no trace in it.
    pub(super) history: Vec<Message>,
    /// The turn, from 1.
    pub(super) turn: u32,
    pub(super) turn_began_ms: i64,
    /// How often anybody was to be asked in it, and anything to be counted: the numbers of its effects.
    pub(super) asked: u32,
    pub(super) counted: u32,
    pub(super) max_turns: u32,
    pub(super) rotation: Rotation,
    pub(super) phase: Phase,
    pub(super) notices: Notices,
    /// Why the turn is the last one.
    pub(super) forced: Option<ForcedReason>,
    /// The turn in which the turns that are left became fewer.
    pub(super) collapsed_in: Option<u32>,
    pub(super) pending_report: Option<Pending>,
    pub(super) final_report_attempts: u32,
    /// The most a model may answer, in tokens.
    pub(super) output_tokens: u32,
    /// Why the session is to end at once.
    pub(super) halt: Option<Halt>,
    pub(super) last_stop_reason: Option<String>,
    pub(super) last_error: Option<String>,
    pub(super) records: Vec<Record>,
    pub(super) totals: Totals,
    /// Calls that failed and may have happened all the same.
    pub(super) doubtful: Vec<Doubtful>,
    /// Results that did not fit into the conversation.
    pub(super) stored: Stored,
    /// How targets count, for those that have counted.
    pub(super) meters: Meters,
    /// The targets for which nobody can count.
    pub(super) uncountable: BTreeSet<TargetName>,
    /// How much targets can read that have refused more.
    pub(super) learned_windows: BTreeMap<TargetName, u64>,
    /// What became of plans and agents that were called.
    pub(super) children: Vec<ChildReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// A model is asked.
    Asking {
        attempt: u32,
        since_ms: i64,
    },
    /// Somebody counts how long the question is.
    Counting {
        attempt: u32,
    },
    /// Everybody is at a limit.
    Waiting {
        attempt: u32,
        since_ms: i64,
        until_ms: i64,
    },
    /// The tools that a model wanted are called.
    Calling(Box<Calling>),
    Ended(Box<Report>),
}

/// An answer whose calls are made. It is part of the history when they are over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Calling {
    pub(super) answer: Message,
    pub(super) calls: Vec<Call>,
    /// What became of each, where the run of the calls does not make it.
    pub(super) made: Vec<Made>,
    /// A report that came with them: it counts if they all succeed.
    pub(super) report: Option<(ToolCall, Draft)>,
    /// How many attempts the turn took.
    pub(super) attempts: u32,
}

/// A report that may be accepted when nothing better comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) source: ReportSource,
    pub(super) draft: Draft,
}

/// Why a session ends at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Halt {
    Cancelled,
    TimeOver,
}
