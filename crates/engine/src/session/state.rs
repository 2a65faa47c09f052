//! What a session is, between two events. All of it can be written down and read back.

use reknit_dialogue::{Message, Rotation, ToolCall};
use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::notice::Notices;
use super::record::{ForcedReason, Record, Totals};
use super::report::{Report, ReportSource};
use super::sorting::Call;
use crate::budget::Spent;
use crate::run::state::ActiveClock;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) events: u64,
    pub(super) now_ms: i64,
    pub(super) clock: ActiveClock,
    pub(super) spent: Spent,
    pub(super) late: u32,
    /// What was said and done in turns that counted. A failed attempt leaves no trace in it.
    pub(super) history: Vec<Message>,
    /// The turn, from 1.
    pub(super) turn: u32,
    pub(super) turn_began_ms: i64,
    /// How often anybody was to be asked in it: the numbers of its effects.
    pub(super) asked: u32,
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
    pub(super) doubtful: Vec<Call>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// A model is asked.
    Asking {
        attempt: u32,
        since_ms: i64,
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
